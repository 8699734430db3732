// What a device's float units could do at best: the bound that the lattices' kernels stand beside.
#pragma once

#include "cuda_kernels/runtime/status.h"
#include "cuda_kernels/runtime/stream.h"

namespace firn::cuda {

// Fused multiply-adds a second, from registers alone, every multiprocessor full.
Status measure_fma(Stream& stream, double& per_second);

}  // namespace firn::cuda
