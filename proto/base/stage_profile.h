// Where the processor time of the whole process goes, stage by stage (stage_times.h), by sampling:
// a signal (SIGPROF) comes after each tick of processor time, to the thread that used it, and
// counts the stage that this thread is in. So the parts add up to what the kernel counted, stages
// cost nothing more, and threads that wait for a core do not count.
//
// A tick is that of the kernel's timers, 1 to 10 ms: three seconds of processor time on a machine
// with 4 ms give 750 samples, in which a stage of a tenth is told to within a tenth of itself.
#pragma once

#include <array>
#include <cstdint>

#include "proto/base/result.h"
#include "proto/base/stage_times.h"

namespace firn {

class StageProfile {
 public:
  struct Spent {
    // Processor time by stage. kNone is that of threads that no StageClock counts.
    std::array<double, kStageCount> seconds{};
    double cpu_user = 0, cpu_system = 0;  // as the kernel counted; their sum is that of `seconds`
    std::uint64_t samples = 0;
    std::uint64_t page_faults = 0;           // those that read nothing from a disk
    std::uint64_t switches_waiting = 0;      // a thread had nothing to do, or waited for a lock
    std::uint64_t switches_interrupted = 0;  // another thread or process was to have the core
  };

  // From now on. One in a process at a time (FIRN_CHECK). Takes SIGPROF and ITIMER_PROF.
  StageProfile();
  ~StageProfile();
  StageProfile(const StageProfile&) = delete;
  StageProfile& operator=(const StageProfile&) = delete;

  Spent spent() const;

 private:
  Spent at_start_;  // all but `seconds` and `samples`
};

}  // namespace firn
