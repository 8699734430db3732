// What the machine allows the lattice's kernels: multiply-adds in registers alone.
#pragma once

#include <cstddef>
#include <string_view>

namespace firn::bench {

// Does `rounds` rounds of multiply-adds with the instructions of that set of lattice kernels,
// single precision, and says how many of numbers they were. The CPU must have the set.
double register_multiply_adds(std::string_view kernels, std::size_t rounds);

}  // namespace firn::bench
