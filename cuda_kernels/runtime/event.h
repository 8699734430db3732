// A point in a stream's work that other streams of the device can wait for. One thread at a time
// for each object; different objects may be used by different threads.
#pragma once

#include "cuda_kernels/runtime/device.h"
#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

class Event {
 public:
  Event() = default;
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  ~Event();

  Status open(const Device& device);
  void* handle() const { return handle_; }

 private:
  void* handle_ = nullptr;
  int device_ = -1;
};

}  // namespace firn::cuda
