// Time between two points of a stream, measured on the device. One thread at a time for each
// object.
#pragma once

#include "cuda_kernels/runtime/stream.h"

namespace firn::cuda {

class Stopwatch {
 public:
  Stopwatch() = default;
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;
  ~Stopwatch();

  Status open(const Device& device);
  Status start(Stream& stream);
  Status stop(Stream& stream);
  // Waits for the stop.
  Status read(double& seconds);

 private:
  void* begin_ = nullptr;
  void* end_ = nullptr;
  int device_ = -1;
};

}  // namespace firn::cuda
