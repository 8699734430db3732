// What the machine itself allows: how fast the instructions of a kernel set can multiply and add
// when nothing has to be loaded or stored, and how fast each level of memory can be read.
#pragma once

#include <cstddef>
#include <string_view>

namespace firn::codec::bench {

// Multiply-adds of one byte (10^9 of them make a GMAC) that a loop on registers alone does: the
// instructions of `kernels` for a product and its sum, `rounds` times. 0 if there is no loop for
// that set. The CPU must have the set.
double register_macs(std::string_view kernels, std::size_t rounds);

// The same with the multiplying instructions alone, without the sums.
double register_multiplies(std::string_view kernels, std::size_t rounds);

// Reads `bytes` (a multiple of 1024) from `from`, 64-byte aligned, with the widest loads there are.
void read_all(const void* from, std::size_t bytes);

}  // namespace firn::codec::bench
