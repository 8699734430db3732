// A rate limit that the contents of one process share: each content has a token bucket, which earns
// an equal part of the rate. What a bucket earns beyond its brim goes to buckets with room, so that
// busy contents get an idle content's part. If all buckets are full, it goes into a common pot, and
// beyond the pot's brim it is lost.
//
// The driver owns it and passes it to each content's core (Options). Threads: one.
#pragma once

#include <cstdint>
#include <map>

#include "client/core/base/types.h"

namespace firn::core {

class RateBudget {
 public:
  using Member = std::uint32_t;

  // Bytes a second; 0: no limit. `burst`: saved up at most in all buckets together, and once more
  // in the pot.
  RateBudget(std::uint64_t rate, std::uint64_t burst)
      : rate_(static_cast<double>(rate)), burst_(static_cast<double>(burst)) {}

  // From `now` on. What is saved up stays, up to the new brims; a limit where there was none begins
  // with full buckets.
  void set_rate(std::uint64_t rate, std::uint64_t burst, TimeUs now);

  bool unlimited() const { return rate_ <= 0; }
  std::uint64_t rate() const { return static_cast<std::uint64_t>(rate_); }

  Member join(TimeUs now);
  void leave(Member member, TimeUs now);

  // Bytes that `member` may take now; 0 or less: none; without a limit a huge number. If there are
  // any, it may take more, and its bucket is overdrawn.
  double available(Member member, TimeUs now);
  void take(Member member, std::uint64_t bytes);
  void give_back(Member member, std::uint64_t bytes);
  // When available() will be more than 0 if no other member takes anything.
  TimeUs ready_at(Member member, TimeUs now);
  // When its bucket will be half full: enough to be worth taking, and with room left if the member
  // is late.
  TimeUs half_full_at(Member member, TimeUs now);

 private:
  double brim() const { return burst_ / static_cast<double>(buckets_.size()); }
  void refill(TimeUs now);
  void earn(double bytes);
  TimeUs reaches(Member member, double bytes, TimeUs now);

  double rate_;
  double burst_;
  std::map<Member, double> buckets_;  // bytes; less than 0: overdrawn
  double pot_ = 0;
  TimeUs last_ = 0;
  Member next_ = 0;
};

}  // namespace firn::core
