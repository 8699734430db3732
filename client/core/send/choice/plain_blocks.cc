#include "client/core/send/choice/plain_blocks.h"

namespace firn::core::policy {

bool any_plain_block(const Holdings& holdings, const Neighbour& neighbour, std::uint32_t g) {
  const WantedSet* wanted = neighbour.holds.wanted_blocks(g);
  if (wanted && holdings.verified().contains(g)) return wanted->any_open();
  return !plain_blocks(holdings, neighbour, g).empty();
}

std::vector<std::uint32_t> plain_blocks(const Holdings& holdings, const Neighbour& neighbour,
                                        std::uint32_t g) {
  const WantedSet* wanted = neighbour.holds.wanted_blocks(g);
  if (!wanted) return {};
  std::vector<std::uint32_t> found;
  const OpenGeneration* open = holdings.find_open(g);
  if (open) {
    for (std::uint32_t slot = 0; slot < open->vectors.size(); ++slot) {
      const std::uint32_t i = open->source_block[slot];
      if (i != kCoded && open->has(slot, Rows::kProven) && wanted->open(i)) found.push_back(i);
    }
  } else if (holdings.verified().contains(g)) {
    for (std::uint32_t i = 0; i < holdings.blocks_in(g); ++i) {
      if (wanted->open(i)) found.push_back(i);
    }
  }
  return found;
}

}  // namespace firn::core::policy
