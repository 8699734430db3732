// Power, clock and what holds it back, of a device that is at work: read through the driver's
// management library (NVML), which is looked for at run time.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "cuda_kernels/runtime/device.h"

namespace firn::cuda {

class PowerMeter {
 public:
  struct Reading {
    double watts = 0, sm_mhz = 0;  // means
    double at_power_limit = 0;     // share of the samples in which power held the clock down
    double otherwise_held = 0;     // share in which heat or the board did
    std::size_t samples = 0;
  };
  explicit PowerMeter(const Device& device);
  ~PowerMeter();

  // Why there is nothing to read; empty if there is.
  const std::string& problem() const { return problem_; }
  double limit_watts() const { return limit_watts_; }
  double sm_mhz_max() const { return sm_mhz_max_; }

  // Reads every few milliseconds on a thread of its own from start() on. stop() ends that and gives
  // the means of what was read in the last part of the time: power rises for a while.
  void start();
  Reading stop(double last_part = 0.5);
  // Reads for `seconds` while nothing else is done: a rest for the device.
  Reading watch(double seconds);

 private:
  struct Library;
  struct Sample {
    double watts, sm_mhz;
    unsigned long long reasons;
  };
  void sample_until_stopped();

  std::unique_ptr<Library> library_;
  std::string problem_;
  double limit_watts_ = 0, sm_mhz_max_ = 0;
  std::vector<Sample> samples_;
  std::mutex mutex_;
  std::condition_variable stop_asked_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace firn::cuda
