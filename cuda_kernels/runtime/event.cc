#include "cuda_kernels/runtime/event.h"

#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda {

Event::~Event() {
  if (handle_ != nullptr && calls::select(device_).ok()) calls::destroy_event(handle_);
}

Status Event::open(const Device& device) {
  if (handle_ != nullptr) return {};
  if (Status s = calls::select(device.index); !s.ok()) return s;
  if (Status s = calls::create_event(false, handle_); !s.ok()) return s;
  device_ = device.index;
  return {};
}

}  // namespace firn::cuda
