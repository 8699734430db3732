// Internal: what decoding asks of the inversion (inverse.cc) beside launch_inverse().
#pragma once

#include <cstddef>

namespace firn::cuda {

// Bytes of scratch that the inversion of one n x n matrix takes.
std::size_t inverse_scratch_each(std::size_t n);

}  // namespace firn::cuda
