// What a neighbour pays for a proof that takes a pass over a generation: check sums, or leaves.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/content/shape.h"

namespace firn::core::policy {

// Check sums take a quarter of the time of leaves, most of it to read the generation.
inline constexpr std::uint64_t kLeafPassBytes = 1 << 20, kSumsPassBytes = 4 << 20;

// In allowances of one generation each. Usual generations have 1 MiB; larger ones take as many
// times longer, and would keep those waiting that want blocks.
inline std::uint64_t pass_cost(const Shape& shape, std::uint32_t generation,
                               std::uint64_t pass_bytes) {
  const std::uint64_t bytes = shape.padded_bytes(generation);
  return std::max<std::uint64_t>(1, (bytes + pass_bytes - 1) / pass_bytes);
}

}  // namespace firn::core::policy
