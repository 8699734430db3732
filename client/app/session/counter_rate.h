// A rate that people can read: how much a counter that only grows has grown per second, over the
// last seconds.
#pragma once

#include <cstdint>
#include <deque>

#include "client/core/base/types.h"

namespace firn::app {

class CounterRate {
 public:
  static constexpr core::TimeUs kWindow = 5 * core::kSecond;

  // The counter stands at `total`. Now and then; the more often, the smoother.
  void sample(std::uint64_t total, core::TimeUs now) {
    samples_.push_back({now, total});
    while (samples_.size() > 2 && samples_[1].at <= now - kWindow) samples_.pop_front();
  }

  double per_second() const {
    if (samples_.size() < 2 || samples_.back().at <= samples_.front().at) return 0;
    return static_cast<double>(samples_.back().total - samples_.front().total) * core::kSecond /
           static_cast<double>(samples_.back().at - samples_.front().at);
  }

 private:
  struct Sample {
    core::TimeUs at;
    std::uint64_t total;
  };
  std::deque<Sample> samples_;
};

}  // namespace firn::app
