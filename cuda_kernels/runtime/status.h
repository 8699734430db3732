// How an operation of the GPU codec ended. Nothing here throws, prints or exits: every call of the
// CUDA runtime is checked, and what went wrong is handed up.
#pragma once

#include <string>
#include <utility>

namespace firn::cuda {

enum class Code {
  kOk,
  kNoDevice,     // no driver, no device, or built without CUDA
  kOutOfMemory,  // on the device or of pinned host memory; less may still fit
  kBadArgument,  // a shape, pitch or scratch size that the call does not take; nothing was done
  kDeviceError,  // anything else that the runtime reports; the device may be unusable from here on
};

struct [[nodiscard]] Status {
  Code code = Code::kOk;
  std::string detail;  // what failed, in words; empty if all went well

  bool ok() const { return code == Code::kOk; }
};

inline Status bad_argument(std::string detail) {
  return {Code::kBadArgument, std::move(detail)};
}

}  // namespace firn::cuda
