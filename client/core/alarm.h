// How long the authority of a large mesh says that false rows are about.
//
// While it does, peers take only rows that are proven, which costs them time; when it ends, any
// false row spreads anew. Polluters that nobody serves send a false row only now and then, so an
// alarm that is raised again soon after its end lasts twice as long as the one before.
#pragma once

#include <algorithm>

#include "client/core/policy/constants.h"
#include "client/core/types.h"

namespace firn::core {

class Alarm {
 public:
  // A peer has met a false row.
  void raise(TimeUs now) {
    if (!on(now)) {
      const bool again = until_ > 0 && now - until_ < policy::kAlarmMemory;
      span_ = again ? std::min(2 * span_, policy::kAlarmTimeMax) : policy::kAlarmTime;
      if (!again) since_ = now;
    }
    until_ = now + span_;
  }
  bool on(TimeUs now) const { return now < until_; }
  // The first alarm of those that followed each other closely is not long ago: most of what is
  // false has not been found yet.
  bool fresh(TimeUs now) const { return on(now) && now - since_ < policy::kAlarmFresh; }

 private:
  TimeUs since_ = 0;
  TimeUs until_ = 0;
  TimeUs span_ = policy::kAlarmTime;
};

}  // namespace firn::core
