// How long a medium takes to write and to read on this machine: an estimate from a short sample of
// the very code, on a frame.
#pragma once

#include "client/medium/plan.h"
#include "proto/base/result.h"

namespace firn::app {

struct MediumTimes {
  double write_seconds = 0;
  double read_seconds = 0;
  unsigned threads = 1;  // that read; one writes
};

// Of one medium of this plan. Disks, hashing and a medium that is worse than planned are left out.
// Takes less than a second. Errors: those of SyncInnerCode.
Result<MediumTimes> estimate_times(const medium::Plan& plan, unsigned threads);

}  // namespace firn::app
