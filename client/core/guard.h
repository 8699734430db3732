// How long a peer is on its guard, as it has met false rows, or check sums that contradict each
// other.
#pragma once

#include <algorithm>

#include "client/core/types.h"

namespace firn::core {

class Guard {
 public:
  // It met some, and is on its guard for this time at least.
  void raise(TimeUs now, TimeUs time) {
    if (!on(now)) since_ = now;
    last_ = now;
    until_ = std::max(until_, now + time);
  }
  bool on(TimeUs now) const { return now < until_; }
  // When it met some last; 0: never.
  TimeUs last() const { return last_; }
  // Since when it has been all the time.
  TimeUs since() const { return since_; }

 private:
  TimeUs since_ = 0, last_ = 0, until_ = 0;
};

}  // namespace firn::core
