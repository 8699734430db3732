// Internal: from the CUDA runtime's error numbers to Status. For host code that may see CUDA's
// types.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

inline Status checked(cudaError_t error, const char* operation) {
  if (error == cudaSuccess) return {};
  // Errors of a call (not of a kernel) are also kept as the thread's last error, where the next
  // check of a launch would find them.
  (void)cudaGetLastError();
  const std::string detail = std::string(operation) + ": " + cudaGetErrorString(error);
  return {error == cudaErrorMemoryAllocation ? Code::kOutOfMemory : Code::kFailed, detail};
}

// After a kernel launch: errors of the launch itself.
inline Status launched(const char* kernel) {
  return checked(cudaGetLastError(), kernel);
}

}  // namespace firn::cuda
