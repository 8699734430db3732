// What a form of the kernels for n <= 128 can leave out, for measuring (tests/gpu/left_out.cu).
#pragma once

namespace firn::cuda {

constexpr unsigned kLoads = 1;     // of data from global memory
constexpr unsigned kBringing = 2;  // loads, and transposing for the product
constexpr unsigned kParities = 4;  // gathering them from the sums
constexpr unsigned kStores = 8;    // of the output

}  // namespace firn::cuda
