#include "codec/bench/report.h"

#include <cstdarg>
#include <cstdio>
#include <nlohmann/json.hpp>

namespace firn::codec::bench {
namespace {

std::string format(const char* pattern, ...) {
  char line[256];
  va_list arguments;
  va_start(arguments, pattern);
  std::vsnprintf(line, sizeof line, pattern, arguments);
  va_end(arguments);
  return line;
}

// The limit of the cell's kernel set at the same shape: measured in the same rounds.
const Cell* limit_of(const Report& report, const Cell& cell) {
  const Cell* found = nullptr;
  for (const Cell& other : report.cells) {
    if (&other == &cell) break;
    if (other.series == "register" && other.operation != "multiply" && other.unit == cell.unit &&
        other.kernels == cell.kernels && other.n == cell.n && other.k == cell.k) {
      found = &other;
    }
  }
  return found;
}

}  // namespace

std::string to_table(const Report& report, const std::string& machine) {
  std::string text = machine + "\n";
  text +=
      format("kernels %s, ISA-L %s, %zu repeats; medians, quartiles, share of the limit\n\n",
             report.best_kernels.c_str(),
             report.isal_version.empty() ? "absent" : report.isal_version.c_str(), report.repeats);
  text +=
      format("%-22s %-8s %-12s %5s %6s %5s %2s %10s %10s %10s %-7s %5s\n", "operation", "series",
             "kernels", "n", "k", "rows", "t", "median", "low", "high", "unit", "share");
  for (const Cell& cell : report.cells) {
    text +=
        format("%-22s %-8s %-12s %5zu %6zu %5zu %2zu %10.2f %10.2f %10.2f %-7s",
               cell.operation.c_str(), cell.series.c_str(), cell.kernels.c_str(), cell.n, cell.k,
               cell.rows, cell.threads, cell.median(), cell.low(), cell.high(), cell.unit.c_str());
    const Cell* limit = limit_of(report, cell);
    if (limit != nullptr && cell.threads == 1) {
      text += format(" %5.2f", cell.median() / limit->median());
    }
    text += "\n";
  }
  return text;
}

std::string to_json(const Report& report, const std::string& machine) {
  nlohmann::json cells = nlohmann::json::array();
  for (const Cell& cell : report.cells) {
    cells.push_back({{"operation", cell.operation},
                     {"series", cell.series},
                     {"kernels", cell.kernels},
                     {"n", cell.n},
                     {"k", cell.k},
                     {"rows", cell.rows},
                     {"threads", cell.threads},
                     {"unit", cell.unit},
                     {"median", cell.median()},
                     {"low", cell.low()},
                     {"high", cell.high()},
                     {"discarded", cell.discarded},
                     {"samples", cell.samples}});
  }
  return nlohmann::json{{"machine", machine},
                        {"kernels", report.best_kernels},
                        {"isal", report.isal_version},
                        {"repeats", report.repeats},
                        {"cells", cells}}
      .dump(1);
}

}  // namespace firn::codec::bench
