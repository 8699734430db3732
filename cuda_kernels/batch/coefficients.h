// Internal: the launcher of coefficients.cu. `stream` is a cudaStream_t of the current device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

struct CoefficientJob {
  std::uint64_t seed, first_stream, first_block;  // blocks of 64 bytes
  std::size_t generations, bytes;
  std::uint8_t* out;
};
Status launch_coefficient_fill(const CoefficientJob& job, void* stream);

}  // namespace firn::cuda
