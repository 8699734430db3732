// A rate that several contents of one process share: each has a bucket of its own, which earns an
// equal part of the rate. What a bucket earns beyond its brim goes to those that have room, so that
// an idle content's part goes to the busy ones; only when all are full it is kept in a common pot,
// and lost beyond the pot's brim.
//
// The driver owns it and hands it to each content's core (Options). Threads: one. Time is given, as
// everywhere in the core.
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

  // What `member` may take now, in bytes; 0 or less: nothing, and without a limit very much. It may
  // take more than it has once
  // there is any, and pays afterwards.
  double available(Member member, TimeUs now);
  void take(Member member, std::uint64_t bytes);
  void give_back(Member member, std::uint64_t bytes);
  // When available() will be more than 0 if no other member takes anything.
  TimeUs ready_at(Member member, TimeUs now);
  // When its bucket will be half full: a lump worth taking, with room left for being late.
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
