// What a device could do at best, measured: the bounds that benchmarks stand beside.
#pragma once

#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/status.h"
#include "cuda_kernels/runtime/stream.h"

namespace firn::cuda {

// Bits multiplied and added per second by the binary tensor cores, from operands already in shared
// memory, over at least `seconds`. Hopper only.
Status measure_binary_wgmma(Stream& stream, double seconds, double& bit_products_per_second);

// The most that can be hoped for where power is the limit: nothing but `bit_products_per_byte` bit
// products by the binary tensor cores for every byte that is read from memory and written there by
// the copy engine, both at once over at least `seconds`. Sums begin anew after `sum_bits` products
// (256 times a power of two up to 4096). Hopper only.
Status measure_products_and_copies(Stream& stream, double bit_products_per_byte, int sum_bits,
                                   const DeviceMemory& from, const DeviceMemory& to, double seconds,
                                   double& bytes_per_second);

}  // namespace firn::cuda
