// The time in which an uplink had nothing to send to the neighbours that come first, less what it
// has since taken to serve others: so much more these can have, and the first wait for a block of
// theirs at most. Idle moments lie between the blocks of a busy uplink as well; they are short, and
// blocks that filled each of them would make it late for the next one.
#pragma once

#include <algorithm>

#include "client/core/policy/constants.h"
#include "client/core/types.h"

namespace firn::core::policy {

class SpareTime {
 public:
  // At `now` the uplink is idle, or it is not: so it stays until the next call.
  void idle(bool is_idle, TimeUs now) {
    if (is_idle_) time_ = std::min(time_ + now - since_, kSpareMax);
    is_idle_ = is_idle;
    since_ = now;
  }
  // Of a block that takes longer than is ever kept the rest comes in afterwards.
  bool affords(TimeUs sending) const { return time_ >= std::min(sending, kSpareMax); }
  void spend(TimeUs sending) { time_ -= sending; }

 private:
  TimeUs time_ = 0;
  TimeUs since_ = 0;
  bool is_idle_ = false;
};

}  // namespace firn::core::policy
