#include "codec/bench/bench.h"

#include <algorithm>
#include <memory>

#include "codec/bench/isal.h"
#include "codec/bench/machine_limits.h"
#include "codec/bench/measure.h"
#include "codec/bench/shape_measures.h"
#include "codec/kernels.h"

namespace firn::codec::bench {
namespace {

std::vector<double> sorted(std::vector<double> samples) {
  std::sort(samples.begin(), samples.end());
  return samples;
}

std::vector<Shape> default_shapes() {
  std::vector<Shape> shapes;
  for (const std::size_t n : {16, 32, 64, 128, 256, 512, 1024}) {
    const bool of_papers = n == 128 || n == 256 || n == 512;
    for (std::size_t k = of_papers ? 128 : 1024; k <= 32768; k *= 2) shapes.push_back({n, k});
  }
  return shapes;
}

Measure limit_measure(const std::string& kernels, bool sums) {
  constexpr std::size_t kRounds = 20000;
  Cell cell{sums ? "multiply and add" : "multiply", "register", kernels, 0, 0, 0, 1, "GMAC/s", {}};
  const double macs = sums ? register_macs(kernels, 1) : register_multiplies(kernels, 1);
  return {std::move(cell), macs * kRounds / 1e9, [=] {
            if (sums) {
              register_macs(kernels, kRounds);
            } else {
              register_multiplies(kernels, kRounds);
            }
          }};
}

// Sizes that stand in the first, second and third cache and in memory of common machines.
std::vector<Measure> read_measures() {
  std::vector<Measure> measures;
  for (const std::size_t kilobytes : {16, 256, 512, 8192, 262144}) {
    const std::size_t bytes = kilobytes * 1024;
    const auto memory = std::make_shared<std::vector<std::uint8_t>>(bytes + 64, std::uint8_t{1});
    void* aligned = memory->data();
    std::size_t room = memory->size();
    std::align(64, bytes, aligned, room);
    Cell cell{"read " + std::to_string(kilobytes) + " KiB", "read", "", 0, bytes, 0, 1, "GB/s", {}};
    measures.push_back({std::move(cell), static_cast<double>(bytes) / 1e9,
                        [memory, aligned, bytes] { read_all(aligned, bytes); }});
  }
  return measures;
}

void sample_in_turn(std::vector<Measure> measures, const Options& options, double& patience,
                    Report& report) {
  for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (Measure& measure : measures) measure.sample(options.sample_seconds, patience);
  }
  for (Measure& measure : measures) report.cells.push_back(std::move(measure.cell));
}

}  // namespace

double Cell::median() const {
  const auto values = sorted(samples);
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

double Cell::low() const {
  return sorted(samples)[samples.size() / 4];
}

double Cell::high() const {
  return sorted(samples)[samples.size() - 1 - samples.size() / 4];
}

Report run(const Options& options, const std::function<void(const std::string&)>& progress) {
  Report report;
  const Kernels& best = kernels();
  report.best_kernels = best.name;
  report.isal_version = isal::version();
  report.repeats = options.repeats;

  progress("limits");
  std::vector<Measure> limits;
  for (const Kernels* set : available_kernels()) {
    if (register_macs(set->name, 1) == 0) continue;
    limits.push_back(limit_measure(set->name, true));
    limits.push_back(limit_measure(set->name, false));
  }
  for (Measure& measure : read_measures()) limits.push_back(std::move(measure));
  double patience = options.patience_seconds;
  sample_in_turn(std::move(limits), options, patience, report);

  const auto measure_shape = [&](const Shape& shape, bool all_kernels) {
    progress("n = " + std::to_string(shape.n) + ", k = " + std::to_string(shape.k) +
             (all_kernels ? ", every kernel set" : ""));
    std::vector<Measure> measures;
    for (const Kernels* set : available_kernels()) {
      if (set != &best && !all_kernels) continue;
      if (register_macs(set->name, 1) == 0) continue;
      measures.push_back(limit_measure(set->name, true));
      measures.back().cell.n = shape.n;
      measures.back().cell.k = shape.k;
    }
    for (Measure& measure : all_kernels ? kernel_measures(shape) : shape_measures(shape, options)) {
      measures.push_back(std::move(measure));
    }
    sample_in_turn(std::move(measures), options, patience, report);
  };
  for (const Shape& shape : options.shapes.empty() ? default_shapes() : options.shapes) {
    measure_shape(shape, false);
  }
  for (const Shape& shape : options.shapes_for_all) measure_shape(shape, true);
  return report;
}

}  // namespace firn::codec::bench
