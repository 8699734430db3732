#include "client/app/console/progress_bar.h"

#include <fmt/format.h>

#include <algorithm>

#include "client/app/console/columns.h"
#include "client/app/console/quantities.h"

namespace firn::app {
namespace {

constexpr std::size_t kBarColumnsMax = 30;
constexpr std::size_t kBarColumnsMin = 5;

double percent_of(const ProgressFigures& figures) {
  const double percent = share_of(figures).value_or(0) * 100;
  return figures.rank < figures.rank_total ? std::min(percent, 99.9) : percent;
}

std::string peers_of(const ProgressFigures& figures) {
  if (!figures.host.empty()) return "from " + figures.host;
  std::string text = fmt::format("{} peer{}", figures.peers, figures.peers == 1 ? "" : "s");
  if (figures.complete_peers > 0) text += fmt::format(", {} have all", figures.complete_peers);
  return text;
}

// Of a content that is complete; what of it is damaged is not served.
std::string seeding_of(const ProgressFigures& figures) {
  if (figures.rank >= figures.rank_total) return "seeding";
  return fmt::format("seeding {:.1f}%", percent_of(figures));
}

bool has_no_end(const ProgressFigures& figures) {
  return !figures.host.empty() && figures.rank_total == 0;
}

std::string rank_of(const ProgressFigures& figures) {
  return fmt::format("rank {}/{}", figures.rank, figures.rank_total);
}

}  // namespace

std::optional<double> share_of(const ProgressFigures& figures) {
  if (figures.rank_total > 0)
    return static_cast<double>(figures.rank) / static_cast<double>(figures.rank_total);
  return figures.seeding ? std::optional(1.0) : std::nullopt;
}

std::string plain_progress(const ProgressFigures& figures) {
  std::string line = figures.name.empty() ? "" : figures.name + ": ";
  if (figures.seeding)
    return line + fmt::format("{}, up {}, {}", seeding_of(figures), format_rate(figures.up_rate),
                              peers_of(figures));
  if (has_no_end(figures))
    return line + fmt::format("{}, {}, {}", format_bytes(figures.rank),
                              format_rate(figures.down_rate), peers_of(figures));
  line += fmt::format("{:.1f}% of {}, {}, ETA {}, {}", percent_of(figures),
                      format_bytes(figures.bytes_wanted), format_rate(figures.down_rate),
                      format_seconds(figures.seconds_left), peers_of(figures));
  return figures.with_rank && figures.host.empty() ? line + ", " + rank_of(figures) : line;
}

std::string progress_line(const ProgressFigures& figures, std::size_t columns) {
  const double share = share_of(figures).value_or(0);
  const double percent = percent_of(figures);
  const std::string peers = peers_of(figures);
  const std::string up = "up " + format_rate(figures.up_rate);
  std::string core;
  if (figures.seeding) {
    core = fmt::format("{}  {}  {}", seeding_of(figures), up, peers);
  } else if (has_no_end(figures)) {
    core = fmt::format("{}  {}  {}", format_bytes(figures.rank), format_rate(figures.down_rate),
                       peers);
  } else {
    core = fmt::format("{:5.1f}%  {}  ETA {}  {}", percent, format_rate(figures.down_rate),
                       format_seconds(figures.seconds_left), peers);
    const bool of_content = figures.host.empty();
    if (figures.with_rank && of_content &&
        columns_of(core) + rank_of(figures).size() + 2 <= columns)
      core += "  " + rank_of(figures);
    if (of_content && columns_of(core) + up.size() + 2 <= columns) core += "  " + up;
  }

  std::string line = core;
  const std::string name = cut(figures.name, 24) + "  ";
  if (!figures.name.empty() && columns_of(name) + columns_of(line) <= columns) line = name + line;
  const std::size_t used = columns_of(line) + 3;
  if (!figures.seeding && used + kBarColumnsMin <= columns) {
    const std::size_t width = std::min(kBarColumnsMax, columns - used);
    const auto full = static_cast<std::size_t>(share * static_cast<double>(width));
    line = fmt::format("[{}{}] {}", std::string(full, '#'), std::string(width - full, '.'), line);
  }
  return cut(line, columns);
}

}  // namespace firn::app
