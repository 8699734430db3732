#include "cuda_kernels/runtime/stopwatch.h"

#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda {

Stopwatch::~Stopwatch() {
  if (device_ < 0 || !calls::select(device_).ok()) return;
  if (begin_ != nullptr) calls::destroy_event(begin_);
  if (end_ != nullptr) calls::destroy_event(end_);
}

Status Stopwatch::open(const Device& device) {
  if (Status s = calls::select(device.index); !s.ok()) return s;
  device_ = device.index;
  if (Status s = calls::create_event(true, begin_); !s.ok()) return s;
  return calls::create_event(true, end_);
}

Status Stopwatch::start(Stream& stream) {
  if (Status s = calls::select(device_); !s.ok()) return s;
  return calls::record_event(begin_, stream.handle());
}

Status Stopwatch::stop(Stream& stream) {
  if (Status s = calls::select(device_); !s.ok()) return s;
  return calls::record_event(end_, stream.handle());
}

Status Stopwatch::read(double& seconds) {
  if (Status s = calls::select(device_); !s.ok()) return s;
  return calls::seconds_between(begin_, end_, seconds);
}

}  // namespace firn::cuda
