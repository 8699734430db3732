// Rates under given time: a meter of what flows, a bucket that bounds it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "client/core/types.h"

namespace firn::core {

// Bytes per second, averaged with exponential forgetting over about `window`.
class RateMeter {
 public:
  explicit RateMeter(TimeUs window = 250 * kMillisecond) : window_(window) {}

  void add(std::uint64_t bytes, TimeUs now) {
    decay(now);
    held_ += static_cast<double>(bytes);
  }
  double bytes_per_second(TimeUs now) const {
    const double age = static_cast<double>(now - last_) / static_cast<double>(window_);
    return held_ * std::exp(-age) * 1e6 / static_cast<double>(window_);
  }

 private:
  void decay(TimeUs now) {
    if (now <= last_) return;
    held_ *= std::exp(-static_cast<double>(now - last_) / static_cast<double>(window_));
    last_ = now;
  }
  TimeUs window_;
  TimeUs last_ = 0;
  double held_ = 0;
};

// What an uplink was seen to carry, bytes a second: over spans in which something always waited to
// be sent. A span without is no measure of the link.
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
  // 0: not known.
  double bytes_per_second() const { return rate_; }

 private:
  // A measure of half a second or more is averaged with those before, the latest most.
  void review(TimeUs now) {
    const TimeUs busy = busy_ + (since_ != kNever ? now - since_ : 0);
    if (busy < kSecond / 2) return;
    const double measured = bytes_ * 1e6 / static_cast<double>(busy);
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

// Token bucket: tokens are bytes, `rate` a second, at most `burst` saved up. Rate 0: no limit. It
// may be overdrawn once, so that a block larger than the burst passes, and pays afterwards.
class TokenBucket {
 public:
  TokenBucket(std::uint64_t rate, std::uint64_t burst, TimeUs now)
      : rate_(rate),
        burst_(static_cast<double>(burst)),
        tokens_(static_cast<double>(burst)),
        last_(now) {}

  bool unlimited() const { return rate_ == 0; }
  bool ready(TimeUs now) {
    refill(now);
    return unlimited() || tokens_ > 0;
  }
  double available(TimeUs now) {
    refill(now);
    return unlimited() ? 1e18 : std::max(tokens_, 0.0);
  }
  void take(std::uint64_t bytes) { tokens_ -= unlimited() ? 0 : static_cast<double>(bytes); }
  // What was taken has not been used after all.
  void give_back(std::uint64_t bytes) {
    tokens_ = std::min(burst_, tokens_ + static_cast<double>(bytes));
  }
  // When ready() turns true; `now` if it is.
  TimeUs ready_at(TimeUs now) const {
    if (unlimited() || tokens_ > 0) return now;
    return reaches(1.0, now);
  }
  // When it is half full; `now` if it is.
  TimeUs half_full_at(TimeUs now) {
    refill(now);
    if (unlimited() || tokens_ >= burst_ / 2) return now;
    return reaches(burst_ / 2, now);
  }

 private:
  TimeUs reaches(double tokens, TimeUs now) const {
    return now + static_cast<TimeUs>((tokens - tokens_) * 1e6 / static_cast<double>(rate_)) + 1;
  }
  void refill(TimeUs now) {
    if (unlimited() || now <= last_) return;
    const double earned = static_cast<double>(rate_) * static_cast<double>(now - last_) * 1e-6;
    tokens_ = std::min(burst_, tokens_ + earned);
    last_ = now;
  }
  std::uint64_t rate_;
  double burst_;
  double tokens_;
  TimeUs last_;
};

}  // namespace firn::core
