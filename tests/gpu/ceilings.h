// What a device could do at best, measured: the bounds that benchmarks stand beside.
#pragma once

#include "cuda_kernels/runtime.h"
#include "cuda_kernels/status.h"

namespace firn::cuda {

// Bits multiplied and added per second by the binary tensor cores, from operands already in shared
// memory, over at least `seconds`. Hopper only.
Status measure_binary_wgmma(Stream& stream, double seconds, double& bit_products_per_second);

}  // namespace firn::cuda
