// Meters of rates. Limits are in rate_limit.h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "client/core/base/types.h"

namespace firn::core {

// Bytes per second, averaged with exponential forgetting over about `window`.
class RateMeter {
 public:
  explicit RateMeter(TimeUs window = 250 * kMillisecond) : window_(window) {}

  // Measuring begins now: time before it does not lower the rate.
  void begin(TimeUs now) { began_ = now; }
  void add(std::uint64_t bytes, TimeUs now) {
    decay(now);
    held_ += static_cast<double>(bytes);
  }
  double bytes_per_second(TimeUs now) const {
    const double age = static_cast<double>(now - last_) / static_cast<double>(window_);
    return held_ * std::exp(-age) * kSecond / (static_cast<double>(window_) * measured(now));
  }
  // A logarithm of the rate as of one fixed time: meters with the same window compare by it alike
  // at any time. Nothing was added: minus infinity.
  double log_at_fixed_time() const {
    return std::log(held_) + static_cast<double>(last_) / static_cast<double>(window_);
  }

 private:
  void decay(TimeUs now) {
    if (now <= last_) return;
    held_ *= std::exp(-static_cast<double>(now - last_) / static_cast<double>(window_));
    last_ = now;
  }
  // The part of a whole window, weighed as what came in it is, that has been measured. Of less than
  // a fifth of one little can be told: what comes first may come in a burst.
  double measured(TimeUs now) const {
    if (began_ == kNever) return 1;
    const TimeUs young = std::max(now - began_, window_ / 5);
    return 1 - std::exp(-static_cast<double>(young) / static_cast<double>(window_));
  }
  TimeUs window_;
  TimeUs began_ = kNever;
  TimeUs last_ = 0;
  double held_ = 0;
};

// Measures what an uplink carries, bytes a second, over times in which something always waited to
// be sent. At other times the link could have carried more.
class UplinkMeter {
 public:
  // Something waits for the uplink, or nothing does any more.
  void waiting(bool something, TimeUs now) {
    if (something == (since_ != kNever)) return;
    if (something) {
      since_ = now;
    } else {
      busy_ += now - since_;
      since_ = kNever;
      review(now);
    }
  }
  void sent(std::uint64_t bytes, TimeUs now) {
    bytes_ += static_cast<double>(bytes);
    review(now);
  }
  bool busy() const { return since_ != kNever; }
  // 0: not known.
  double bytes_per_second() const { return rate_; }

 private:
  // A measure of half a second or more is averaged with those before, the latest most.
  void review(TimeUs now) {
    const TimeUs busy = busy_ + (since_ != kNever ? now - since_ : 0);
    if (busy < kSecond / 2) return;
    const double measured = bytes_ * kSecond / static_cast<double>(busy);
    rate_ = rate_ == 0 ? measured : rate_ + (measured - rate_) / 4;
    bytes_ = 0;
    busy_ = 0;
    if (since_ != kNever) since_ = now;
  }
  TimeUs since_ = kNever;  // something has been waiting
  TimeUs busy_ = 0;        // waited before, in this measure
  double bytes_ = 0;
  double rate_ = 0;
};

}  // namespace firn::core
