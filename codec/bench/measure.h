// One measure: what to run, and how its time becomes a figure.
#pragma once

#include <ctime>

#include <cstddef>
#include <functional>
#include <vector>

#include "codec/bench/bench.h"

namespace firn::codec::bench {

enum class Clock { kThread, kWall };

inline double seconds_now(Clock clock) {
  timespec time;
  clock_gettime(clock == Clock::kThread ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

struct Measure {
  Cell cell;
  // What one run of `work` amounts to, so that amount / seconds is in the cell's unit; for "us" the
  // figure is amount * seconds, for "%" what `share` gives.
  double amount;
  std::function<void()> work;
  std::function<double()> share = nullptr;
  std::size_t runs = 1;  // of the work in a sample; the first sample finds how many fill the time
  std::function<bool()> cores_apart = nullptr;  // whether each thread has a core at this moment

  // Takes one sample of about `seconds` (at least one run of the work); where threads share a core,
  // others in its place while `patience` (seconds, used up here) lasts.
  void sample(double seconds, double& patience) {
    const auto apart = [&] { return !cores_apart || cores_apart(); };
    while (true) {
      const double start = seconds_now(Clock::kWall);
      if (apart() || patience <= 0) {
        take_sample(seconds);
        if (patience <= 0 || apart()) return;
        cell.samples.pop_back();
        ++cell.discarded;
      }
      patience -= seconds_now(Clock::kWall) - start;
    }
  }

 private:
  void take_sample(double seconds) {
    if (share) {
      cell.samples.push_back(share());
      return;
    }
    const Clock clock = cell.threads == 1 ? Clock::kThread : Clock::kWall;
    while (true) {
      const double start = seconds_now(clock);
      for (std::size_t i = 0; i < runs; ++i) work();
      const double taken = seconds_now(clock) - start;
      if (taken < 0.7 * seconds && runs < 1u << 24) {
        // The first sample finds how many runs fill the time.
        const double factor = taken > 0 ? seconds / taken : 1000;
        runs =
            static_cast<std::size_t>(static_cast<double>(runs) * (factor < 1000 ? factor : 1000)) +
            1;
        continue;
      }
      const double each = taken / static_cast<double>(runs);
      cell.samples.push_back(cell.unit == "us" ? amount * each : amount / each);
      return;
    }
  }
};

}  // namespace firn::codec::bench
