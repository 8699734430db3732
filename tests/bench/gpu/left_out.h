// The kernel for n <= 128 on Hopper's tensor cores with parts left out: what each part costs.
// Results of all but kNothing are wrong. Where data are not brought, products are of what is in
// shared memory.
#pragma once

#include <string_view>

#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/runtime/memory.h"
#include "cuda_kernels/runtime/status.h"
#include "cuda_kernels/runtime/stream.h"

namespace firn::cuda {

enum class LeftOut { kNothing, kLoads, kStores, kBoth, kParities, kBringing, kAllButProducts };
inline constexpr LeftOut kLeftOuts[] = {
    LeftOut::kNothing,  LeftOut::kLoads,    LeftOut::kStores,        LeftOut::kBoth,
    LeftOut::kParities, LeftOut::kBringing, LeftOut::kAllButProducts};
std::string_view words_for(LeftOut what);

// Hopper, n <= 128, aligned blocks; otherwise as launch_product().
Status launch_left_out(Stream& stream, const Shape& shape, const std::uint8_t* coefficients,
                       ConstBlocks source, Blocks out, LeftOut what);

}  // namespace firn::cuda
