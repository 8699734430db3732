// Which source blocks a sender can give to a neighbour that takes no others of a generation
// (WantedSet): those that it has verified with their generation, or holds as proven rows.
#pragma once

#include <cstdint>
#include <vector>

#include "client/core/neighbour/neighbour.h"
#include "client/core/rows/holdings.h"

namespace firn::core::policy {

// Both: of those that the neighbour wants, and that are not on their way to it.
bool any_plain_block(const Holdings& holdings, const Neighbour& neighbour, std::uint32_t g);
std::vector<std::uint32_t> plain_blocks(const Holdings& holdings, const Neighbour& neighbour,
                                        std::uint32_t g);

}  // namespace firn::core::policy
