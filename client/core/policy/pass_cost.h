// What a neighbour pays for a proof that takes a pass over a generation: check sums, or leaves.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/content/shape.h"

namespace firn::core::policy {

inline constexpr std::uint64_t kPassBytes = 1 << 20;

// In allowances of one generation each, as generations usually have kPassBytes: larger ones take as
// many times longer, and would keep those waiting that want blocks.
inline std::uint64_t pass_cost(const Shape& shape, std::uint32_t generation) {
  const std::uint64_t bytes = shape.padded_bytes(generation);
  return std::max<std::uint64_t>(1, (bytes + kPassBytes - 1) / kPassBytes);
}

}  // namespace firn::core::policy
