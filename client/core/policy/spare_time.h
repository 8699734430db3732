// An account of the time in which an uplink had nothing to send to the neighbours that come first.
// Blocks for the others are paid from it, so these get no more than nobody else would use, and one
// that comes first waits for one block of theirs at most.
//
// A busy uplink has idle moments, too, between any two blocks; they are short, and blocks for
// others in each of them would make it late for the next one.
#pragma once

#include <algorithm>

#include "client/core/policy/constants.h"
#include "client/core/types.h"

namespace firn::core::policy {

// One content's: what other contents send over the same uplink is not in it.
class SpareTime {
 public:
  // At `now` the uplink is idle, or it is not: so it stays until the next call.
  void idle(bool is_idle, TimeUs now) {
    if (is_idle_) time_ = std::min(time_ + now - since_, kSpareMax);
    is_idle_ = is_idle;
    since_ = now;
  }
  // A block that takes longer than kSpareMax may go once that much is there.
  bool affords(TimeUs sending) const { return time_ >= std::min(sending, kSpareMax); }
  void spend(TimeUs sending) { time_ = std::max(time_ - sending, -kSpareAheadMax); }

 private:
  TimeUs time_ = 0;
  TimeUs since_ = 0;
  bool is_idle_ = false;
};

}  // namespace firn::core::policy
