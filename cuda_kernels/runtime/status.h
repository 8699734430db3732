// How an operation of the GPU codec ended: the status of the codec's backends. Every call of the
// CUDA runtime is checked.
#pragma once

#include <string>
#include <utility>

#include "codec/backend_status.h"

namespace firn::cuda {

using Status = codec::BackendStatus;
using Code = Status::Code;

// An argument that the call does not take; nothing was done.
inline Status unsupported(std::string detail) {
  return {Code::kUnsupported, std::move(detail)};
}

}  // namespace firn::cuda
