// A token bucket: tokens are what its owner counts (bytes, requests), `rate` come a second, at most
// `burst` are saved up. Rate 0: no limit. It may be overdrawn once, so that a block larger than the
// burst passes, and pays afterwards. Times are microseconds of any one clock; an earlier one than
// the last counts as that.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace firn {

class TokenBucket {
 public:
  using Micros = std::int64_t;

  TokenBucket(std::uint64_t rate, std::uint64_t burst, Micros now)
      : rate_(rate),
        burst_(static_cast<double>(burst)),
        tokens_(static_cast<double>(burst)),
        last_(now) {}

  // From `now` on. What is saved up stays, up to the new burst; a limit where there was none begins
  // with a full bucket.
  void set_rate(std::uint64_t rate, std::uint64_t burst, Micros now) {
    refill(now);
    const auto brim = static_cast<double>(burst);
    tokens_ = unlimited() ? brim : std::min(tokens_, brim);
    rate_ = rate;
    burst_ = brim;
    last_ = std::max(last_, now);
  }

  bool unlimited() const { return rate_ == 0; }
  bool ready(Micros now) {
    refill(now);
    return unlimited() || tokens_ > 0;
  }
  double available(Micros now) {
    refill(now);
    return unlimited() ? 1e18 : std::max(tokens_, 0.0);
  }
  bool full(Micros now) const { return unlimited() || tokens_ + earned(now) >= burst_; }
  void take(std::uint64_t tokens) { tokens_ -= unlimited() ? 0 : static_cast<double>(tokens); }
  // Takes them if it holds as many; false: it does not.
  bool try_take(std::uint64_t tokens, Micros now) {
    if (wait_for(tokens, now) > 0) return false;
    take(tokens);
    return true;
  }
  // What was taken has not been used after all.
  void give_back(std::uint64_t tokens) {
    tokens_ = std::min(burst_, tokens_ + static_cast<double>(tokens));
  }
  // When ready() turns true; `now` if it is.
  Micros ready_at(Micros now) const {
    if (unlimited() || tokens_ > 0) return now;
    return reaches(1.0, now);
  }
  // When it is half full; `now` if it is.
  Micros half_full_at(Micros now) {
    refill(now);
    if (unlimited() || tokens_ >= burst_ / 2) return now;
    return reaches(burst_ / 2, now);
  }
  // How long until it holds `tokens`, up to the burst, so that taking them does not overdraw it; 0:
  // it does now.
  Micros wait_for(std::uint64_t tokens, Micros now) {
    refill(now);
    const double missing = static_cast<double>(tokens) - tokens_;
    if (unlimited() || missing <= kRounding) return 0;
    return static_cast<Micros>(std::ceil(missing * 1e6 / static_cast<double>(rate_) - kRounding));
  }

 private:
  static constexpr double kRounding = 1e-6;  // of sums of fractions

  Micros reaches(double tokens, Micros now) const {
    return now + static_cast<Micros>((tokens - tokens_) * 1e6 / static_cast<double>(rate_)) + 1;
  }
  double earned(Micros now) const {
    return static_cast<double>(rate_) * static_cast<double>(std::max<Micros>(now - last_, 0)) *
           1e-6;
  }
  void refill(Micros now) {
    if (unlimited() || now <= last_) return;
    tokens_ = std::min(burst_, tokens_ + earned(now));
    last_ = now;
  }
  std::uint64_t rate_;
  double burst_;
  double tokens_;
  Micros last_;
};

}  // namespace firn
