// Limits a content's traffic in one direction: by the content's own limit, and by its part of the
// process's limit (rate_budget.h). Either may be absent.
#pragma once

#include <algorithm>
#include <cstdint>

#include "client/core/base/rate_budget.h"
#include "client/core/base/types.h"
#include "proto/base/token_bucket.h"

namespace firn::core {

// Bytes that may be saved up: those of 50 ms, at least one.
inline std::uint64_t burst_of(std::uint64_t rate) {
  return std::max<std::uint64_t>(rate / 20, 1);
}

class RateLimit {
 public:
  // `rate` 0: no limit of its own. `budget` null: no other content counts; it outlives this, and
  // may get or lose its own limit meanwhile.
  RateLimit(std::uint64_t rate, RateBudget* budget, TimeUs now)
      : own_(rate, burst_of(rate), now),
        rate_(rate),
        budget_(budget),
        member_(budget_ ? budget_->join(now) : 0),
        last_(now) {}
  ~RateLimit() {
    if (budget_) budget_->leave(member_, last_);
  }
  RateLimit(const RateLimit&) = delete;
  RateLimit& operator=(const RateLimit&) = delete;

  // Of its own, from now on: bytes a second, 0: none.
  void set_limit(std::uint64_t rate, TimeUs now) {
    rate_ = rate;
    own_.set_rate(rate, burst_of(rate), now);
  }
  bool unlimited() const { return own_.unlimited() && (!budget_ || budget_->unlimited()); }
  // The lower of the two limits, bytes a second; 0: no limit.
  std::uint64_t rate() const {
    if (!budget_ || budget_->unlimited()) return rate_;
    return rate_ == 0 ? budget_->rate() : std::min(rate_, budget_->rate());
  }
  bool ready(TimeUs now) {
    last_ = now;
    return own_.ready(now) && (!budget_ || budget_->available(member_, now) > 0);
  }
  double available(TimeUs now) {
    last_ = now;
    const double own = own_.available(now);
    return budget_ ? std::min(own, std::max(budget_->available(member_, now), 0.0)) : own;
  }
  void take(std::uint64_t bytes) {
    own_.take(bytes);
    if (budget_) budget_->take(member_, bytes);
  }
  // What was taken has not been used after all.
  void give_back(std::uint64_t bytes) {
    own_.give_back(bytes);
    if (budget_) budget_->give_back(member_, bytes);
  }
  // `charged` was taken for what turned out to be `used`.
  void settle(std::uint64_t charged, std::uint64_t used) {
    used > charged ? take(used - charged) : give_back(charged - used);
  }
  // When ready() turns true; `now` if it is.
  TimeUs ready_at(TimeUs now) {
    const TimeUs own = own_.ready_at(now);
    return budget_ ? std::max(own, budget_->ready_at(member_, now)) : own;
  }
  // A step ends. Whether nothing more is allowed is kept, as other contents of the process may have
  // the limit refilled since: that is no reason to sleep on.
  void rest(TimeUs now) { waits_ = !ready(now); }
  bool held_up() const { return waits_; }
  // When more is allowed again, if the limit held up the last step; else kNever.
  TimeUs next_due(TimeUs now) { return waits_ ? ready_at(now) : kNever; }
  // When so much is saved up that it should be used before some of it is lost at the brim.
  TimeUs half_full_at(TimeUs now) {
    const TimeUs own = own_.half_full_at(now);
    return budget_ ? std::max(own, budget_->half_full_at(member_, now)) : own;
  }

 private:
  TokenBucket own_;
  std::uint64_t rate_;
  RateBudget* const budget_;
  const RateBudget::Member member_;
  TimeUs last_;
  bool waits_ = false;
};

}  // namespace firn::core
