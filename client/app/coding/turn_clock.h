// The time as the data plane knows it: completions carry none, and take that of the last call.
#pragma once

#include "client/core/base/types.h"

namespace firn::app {

// Owner thread.
class TurnClock {
 public:
  core::TimeUs now() const { return now_; }
  void set(core::TimeUs now) { now_ = now; }

 private:
  core::TimeUs now_ = 0;
};

}  // namespace firn::app
