// What the machine's instructions allow a kernel set for block checks, as machine_limits.h does it
// for products: the loop of stage 1 (codec/kernels/check_*.cc) on registers alone.
#pragma once

#include <cstddef>
#include <string_view>

namespace firn::codec::bench {

// Bytes of payload that `rounds` rounds of the loop amount to; 0 if there is no loop for
// `check_kernels`. The CPU must have the set.
double register_hash_bytes(std::string_view check_kernels, std::size_t rounds);

}  // namespace firn::codec::bench
