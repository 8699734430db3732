#include "codec/bench/probes.h"

#include <sched.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <cmath>
#include <thread>
#include <utility>

#include "codec/bench/check_measures.h"
#include "codec/bench/machine_limits.h"
#include "codec/bench/measure.h"
#include "codec/bench/shape_measures.h"
#include "codec/bench/span_measures.h"
#include "codec/kernels.h"
#include "codec/thread_pool.h"
#include "codec/try_thread.h"

namespace firn::codec::bench {
namespace {

// All measures of a shape in turn, round after round.
void probe_shapes(std::vector<Shape> default_shapes,
                  std::vector<Measure> (*measures_of)(const Shape&), const Options& options,
                  Report& report) {
  for (const Shape& shape : options.shapes.empty() ? default_shapes : options.shapes) {
    std::vector<Measure> measures = measures_of(shape);
    double no_patience = 0;
    for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
      for (Measure& measure : measures) measure.sample(options.sample_seconds, no_patience);
    }
    for (Measure& measure : measures) report.cells.push_back(std::move(measure.cell));
  }
}

void stay_on(std::size_t cpu) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  sched_setaffinity(0, sizeof one, &one);  // where it is refused the figures say nothing of cores
}

// GMAC/s in registers of the slowest of `count` threads, on CPUs `first` and following, at once.
double slowest_rate(std::size_t first, std::size_t count, const char* kernels, double seconds) {
  constexpr std::size_t kRounds = 2000;
  std::barrier start(static_cast<std::ptrdiff_t>(count));
  std::vector<double> rates(count, HUGE_VAL);  // of a thread that cannot be had, too
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < count; ++i) {
    auto thread = try_thread([&, i] {
      stay_on(first + i);
      start.arrive_and_wait();
      const double begin = seconds_now(Clock::kWall);
      double macs = 0, now = begin;
      for (; now - begin < seconds; now = seconds_now(Clock::kWall)) {
        macs += register_macs(kernels, kRounds);
      }
      rates[i] = macs / (now - begin) / 1e9;
    });
    if (thread) {
      threads.push_back(*std::move(thread));
    } else {
      start.arrive_and_drop();
    }
  }
  for (std::thread& thread : threads) thread.join();
  return *std::min_element(rates.begin(), rates.end());
}

// Microseconds until every thread of a pool which has been without work for `pause_seconds` works.
double start_of_run(ThreadPool& pool, double pause_seconds) {
  const double before = seconds_now(Clock::kWall);
  while (seconds_now(Clock::kWall) - before < pause_seconds) {
  }
  const double begin = seconds_now(Clock::kWall);
  std::atomic<std::size_t> working = 0;
  pool.run(pool.threads(), [&](std::size_t) {
    ++working;
    while (working < pool.threads()) {
    }
  });
  return 1e6 * (seconds_now(Clock::kWall) - begin);
}

void probe_threads(const Options& options, Report& report) {
  const char* kernels = report.best_kernels.c_str();
  const auto cell = [&](const char* operation, std::size_t threads, const char* unit) {
    return Cell{operation, "register", kernels, 0, 0, 0, threads, unit, {}};
  };
  Cell alone = cell("on one CPU", 1, "GMAC/s");
  Cell at_once = cell("on each CPU at once", options.threads, "GMAC/s");
  Cell awake = cell("all at work, awake", options.threads, "us");
  Cell asleep = cell("all at work, asleep", options.threads, "us");
  awake.series = asleep.series = "pool";
  ThreadPool pool(options.threads);
  constexpr double kShort = 2e-6, kLong = 2e-3;
  for (std::size_t repeat = 0; repeat < options.repeats; ++repeat) {
    for (std::size_t cpu = 0; cpu < options.threads; ++cpu) {
      alone.samples.push_back(slowest_rate(cpu, 1, kernels, options.sample_seconds));
    }
    at_once.samples.push_back(slowest_rate(0, options.threads, kernels, options.sample_seconds));
    start_of_run(pool, 0);
    awake.samples.push_back(start_of_run(pool, kShort));
    asleep.samples.push_back(start_of_run(pool, kLong));
  }
  for (const Cell& each : {alone, at_once, awake, asleep}) report.cells.push_back(each);
}

}  // namespace

bool probe(std::string_view name, const Options& options, Report& report) {
  report.best_kernels = kernels().name;
  report.repeats = options.repeats;
  if (name == "levels") {
    probe_shapes({{256, 16384}, {512, 16384}, {1024, 4096}, {1024, 16384}}, level_measures, options,
                 report);
  } else if (name == "checks") {
    probe_shapes({{64, 16384}, {64, 32768}}, check_measures, options, report);
  } else if (name == "span") {
    probe_shapes({{64, 1}, {128, 1}, {256, 1}, {512, 1}, {1024, 1}}, span_measures, options,
                 report);
  } else if (name == "threads") {
    probe_threads(options, report);
  } else {
    return false;
  }
  return true;
}

}  // namespace firn::codec::bench
