// What a form of the kernels for n <= 128 can leave out (left_out.cu). The difference to the whole
// kernel is what that part costs; results are wrong.
#pragma once

#include "cuda_kernels/product/launch.h"

namespace firn::cuda {

constexpr unsigned kLoads = 1;     // of data from global memory
constexpr unsigned kBringing = 2;  // loads, and transposing for the product
constexpr unsigned kParities = 4;  // gathering them from the sums
constexpr unsigned kStores = 8;    // of the output

// Whether a form has a part. The compiler does not know that generations are never below 0, and so
// does not leave out the products as well.
template <unsigned kLeftOut>
__device__ __forceinline__ bool has(unsigned part, const ProductJob& job) {
  return (kLeftOut & part) == 0 || (kLeftOut != 0 && job.generations < 0);
}

}  // namespace firn::cuda
