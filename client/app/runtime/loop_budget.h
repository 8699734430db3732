// How much coding the loop's own thread may do.
//
// Handing a job to the worker pool and its result back costs two switches of threads; making one
// block of n = 64, k = 16 KiB from rows at hand, 2^20 multiply-adds, takes 5 to 50 us with vector
// kernels ("1 row" in docs/benchmarks.md, "Every kernel set"), and often less than the switches. So
// few and small jobs are done at once, where they are asked for. What is large would hold up
// everything else, and what is much keeps the loop from its messages while other cores idle: those
// go to the pool, where blocks that wait are made together besides.
#pragma once

#include <algorithm>
#include <cstdint>

#include "client/core/base/types.h"

namespace firn::app {

// One for all contents of a loop. One thread.
class LoopBudget {
 public:
  // In multiply-adds of bytes: coefficients times block_bytes. With vector kernels these take 100
  // us at most, with scalar ones 2 ms (the same table).
  static constexpr std::uint64_t kJobMax = 1 << 21;
  // A quarter of the loop's time with scalar kernels; a peer on 8 Mbit/s needs a quarter of it, one
  // on 100 Mbit/s three times as much.
  static constexpr std::uint64_t kPerSecond = 256 << 20;
  // A tenth of the loop's time with vector kernels. Where peers of one host pass on what they can,
  // trips to workers cost a tenth of all processor time (docs/lab/063).
  static constexpr std::uint64_t kPerSecondVector = std::uint64_t{2} << 30;
  // What a quiet loop has saved: this part of a second's.
  static constexpr std::uint64_t kSavedShare = 32;
  static constexpr std::uint64_t kSavedMax = kPerSecond / kSavedShare;

  explicit LoopBudget(std::uint64_t per_second = kPerSecond)
      : per_second_(per_second), saved_max_(per_second / kSavedShare), saved_(saved_max_) {}

  // Whether the loop may do a job of `multiply_adds` now; counts it if so.
  bool take(std::uint64_t multiply_adds, core::TimeUs now) {
    const auto passed_us = static_cast<std::uint64_t>(std::max<core::TimeUs>(now - filled_at_, 0));
    filled_at_ = std::max(filled_at_, now);
    if (passed_us >= core::kSecond) {
      saved_ = saved_max_;
    } else {
      saved_ = std::min(saved_max_, saved_ + passed_us * per_second_ / core::kSecond);
    }
    if (multiply_adds > kJobMax || multiply_adds > saved_) return false;
    saved_ -= multiply_adds;
    return true;
  }

 private:
  const std::uint64_t per_second_, saved_max_;
  std::uint64_t saved_;
  core::TimeUs filled_at_ = 0;
};

}  // namespace firn::app
