// What ends the rests of a loop (loop_pace.h) when it is to stop.
//
// A semaphore, because a condition variable asks the kernel twice a rest: glibc takes the mutex of
// a wait that timed out as one that others wait for, and wakes nobody (docs/lab/080).
#pragma once

#include <semaphore.h>
#include <time.h>

#include <cstdint>
#include <ctime>

#include "proto/base/result.h"

namespace firn::proto::transport {

class StopSignal {
 public:
  StopSignal() { FIRN_CHECK(sem_init(&given_, 0, 0) == 0); }
  ~StopSignal() { sem_destroy(&given_); }
  StopSignal(const StopSignal&) = delete;
  StopSignal& operator=(const StopSignal&) = delete;

  // Any thread. For good.
  void give() { sem_post(&given_); }
  // Returns at `end_us` of uv_hrtime()'s clock, or when the signal is given; sooner where a handler
  // of the process's signals has run.
  void wait_until(std::uint64_t end_us) {
    const timespec end{static_cast<std::time_t>(end_us / 1'000'000),
                       static_cast<long>(end_us % 1'000'000) * 1000};
    if (sem_clockwait(&given_, CLOCK_MONOTONIC, &end) == 0) give();  // for the next wait
  }

 private:
  sem_t given_;
};

}  // namespace firn::proto::transport
