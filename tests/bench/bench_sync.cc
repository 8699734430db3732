// The synchronisation decoder on one core: the paper's batch lattices beside the superposed form,
// in one run, and how near the latter comes to the machine's rate of multiply-adds.
//   bench_sync [--repeats N] [--shape n,q,N,p]...
// Each round decodes a frame with every form in turn, so that a slow moment falls on all of them;
// times are the thread's own, and medians. See docs/medium.md.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "codec/bench/measure.h"
#include "codec/kernels.h"
#include "codec/sync/codebooks.h"
#include "codec/sync/map_decoder.h"
#include "tests/bench/fma_limit.h"

namespace {

using namespace firn::codec::sync;
using firn::codec::bench::seconds_now;

struct Shape {
  unsigned n, q, length;
  double p;
};

constexpr double kExcluded = 1e-10;
constexpr auto kClock = firn::codec::bench::Clock::kThread;

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

struct Series {
  std::string name;
  DecoderOptions options;
  std::vector<double> seconds = {};  // one for each round
  std::vector<double> limits =
      {};  // multiply-adds a second in the same round; none without kernels
};

std::vector<Series> all_series() {
  std::vector<Series> series;
  DecoderOptions options;
  options.form = Form::kBatch;
  options.precision = Precision::kMixed;
  series.push_back({"batch, float and double", options});
  options.precision = Precision::kSingle;
  series.push_back({"batch, float", options});
  for (const auto* kernels : firn::codec::available_lattice_kernels()) {
    options = {};
    options.kernels = kernels;
    series.push_back({std::string("superposed, ") + kernels->name, options});
    options.bridge_exclusion = kExcluded;
    series.push_back({std::string("superposed, bridge, ") + kernels->name, options});
    options.bridge_exclusion = 0;
    options.precision = Precision::kDouble;
    series.push_back({std::string("superposed, double, ") + kernels->name, options});
  }
  return series;
}

double multiply_adds_a_second(const char* kernels) {
  firn::bench::register_multiply_adds(kernels, 20'000);  // wakes the wide units
  const double start = seconds_now(kClock);
  const double made = firn::bench::register_multiply_adds(kernels, 200'000);
  return made / (seconds_now(kClock) - start);
}

void print(const Shape& shape, const StateLimits& limits, std::vector<Series>& series) {
  double bits_a_symbol = 0;
  for (unsigned q = shape.q; q > 1; q /= 2) ++bits_a_symbol;
  const double bits = bits_a_symbol * shape.length;
  const double nodes = 2.0 * shape.n * shape.q * shape.length * limits.frame.size();
  const double paper = median(series.front().seconds);
  std::printf("n=%u q=%u N=%u p=%g  M_n=%d M_tau=%d\n", shape.n, shape.q, shape.length, shape.p,
              limits.codeword.size(), limits.frame.size());
  std::printf("  %-32s %9s %9s %9s %9s %9s\n", "form", "ms/frame", "kbit/s", "x batch", "Gnode/s",
              "of limit");
  for (const Series& one : series) {
    const double seconds = median(one.seconds);
    std::printf("  %-32s %9.3f %9.1f %9.1f", one.name.c_str(), seconds * 1e3, bits / seconds / 1e3,
                paper / seconds);
    if (one.options.kernels != nullptr && one.options.bridge_exclusion == 0) {
      const double width = one.options.precision == Precision::kDouble ? 2 : 1;
      // Two multiply-adds a node, the fewest that the recursion has.
      std::printf(" %9.2f %8.0f%%", nodes / seconds / 1e9,
                  100 * 2 * nodes / seconds / (median(one.limits) / width));
    }
    std::printf("\n");
  }
}

void measure(const Shape& shape, int repeats) {
  const Channel channel{shape.p, shape.p, 0};
  auto books = indel_books(shape.n, shape.q, 4, kBookCount, 777);
  if (books.empty()) books = random_books(shape.n, shape.q, kBookCount, 777);
  const auto code = TvbCode::make(shape.n, shape.q, shape.length, std::move(books));
  if (!code) {
    std::fprintf(stderr, "bench_sync: no code with n=%u q=%u N=%u\n", shape.n, shape.q,
                 shape.length);
    std::exit(2);
  }
  const StateLimits limits = rigorous_limits(shape.n, shape.length, channel, kExcluded);
  std::vector<Series> series = all_series();
  std::vector<MapDecoder> decoders;
  for (const Series& one : series) decoders.emplace_back(*code, channel, limits, one.options);
  firn::codec::CoefficientStream random(1, 0);
  FrameSolution solution;
  for (int round = -1; round < repeats; ++round) {  // the round before the first warms up
    std::vector<Symbol> symbols(code->length());
    for (Symbol& symbol : symbols) symbol = random.below(shape.q);
    const Bits received = transmit(code->encode(symbols), channel, random);
    FrameProblem problem;
    problem.received = received;
    for (std::size_t i = 0; i < series.size(); ++i) {
      const auto* kernels = series[i].options.kernels;
      const double limit = kernels != nullptr ? multiply_adds_a_second(kernels->name) : 0;
      // The second time: a bridge's bands are known then, as they are after some hundred frames.
      if (series[i].options.bridge_exclusion > 0) decoders[i].decode(problem, solution);
      const double start = seconds_now(kClock);
      decoders[i].decode(problem, solution);
      const double seconds = seconds_now(kClock) - start;
      if (round < 0 || solution.status != FrameStatus::kDecoded) continue;
      series[i].seconds.push_back(seconds);
      series[i].limits.push_back(limit);
    }
  }
  print(shape, limits, series);
}

[[noreturn]] void usage() {
  std::fprintf(stderr, "usage: bench_sync [--repeats N] [--shape n,q,N,p]...\n");
  std::exit(2);
}

}  // namespace

int main(int argc, char** argv) {
  int repeats = 15;
  std::vector<Shape> shapes;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string option = argv[i];
    Shape shape{};
    if (option == "--repeats") {
      repeats = std::atoi(argv[i + 1]);
    } else if (option == "--shape" && std::sscanf(argv[i + 1], "%u,%u,%u,%lf", &shape.n, &shape.q,
                                                  &shape.length, &shape.p) == 4) {
      shapes.push_back(shape);
    } else {
      usage();
    }
  }
  if (argc % 2 == 0 || repeats < 1) usage();
  if (shapes.empty()) {
    shapes = {{8, 16, 512, 1e-2}, {10, 32, 210, 1e-3}, {10, 32, 210, 1e-2}, {10, 32, 210, 3e-2}};
  }
  for (const Shape& shape : shapes) measure(shape, repeats);
}
