// Leaf lists of a content of zeros, as the input of a fuzzer chooses them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/messages.h"
#include "tests/fuzz/fuzz_bytes.h"

namespace firn::fuzz {

inline Digest zeros_leaf(std::uint32_t block_bytes) {
  return merkle_leaf(std::vector<std::uint8_t>(block_bytes));
}

// Leaves that fit, or one too few, or one that does not, or none.
inline proto::LeafReply leaf_reply(FuzzBytes& in, std::uint32_t g, std::uint32_t blocks,
                                   std::uint32_t block_bytes) {
  const std::uint8_t kind = in.byte();
  const std::uint32_t leaves = std::min(blocks, std::uint32_t{limits::kGenerationSizeMax});
  proto::LeafReply reply{g, {leaves, zeros_leaf(block_bytes)}};
  if (kind % 8 == 5) reply.leaves.front().bytes[0] ^= 1;
  if (kind % 8 == 6) reply.leaves.pop_back();
  if (kind % 8 == 7) reply.leaves.clear();
  return reply;
}

}  // namespace firn::fuzz
