// What the sender's policies answer: which neighbour gets a block of which generation next.
#pragma once

#include <cstdint>
#include <optional>

#include "client/core/base/types.h"

namespace firn::core::policy {

struct Choice {
  PeerKey peer = kNoPeer;
  std::uint32_t generation = 0;
  std::optional<std::uint32_t> source_index;  // send this source block as it is
  bool use_null_vector = false;               // draw until v.z != 0
  bool plain = false;      // one of the source blocks that the neighbour asks for (plain_blocks.h)
  bool low_worth = false;  // the source knows little good of the neighbour
};

}  // namespace firn::core::policy
