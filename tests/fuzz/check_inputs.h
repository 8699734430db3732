// Check sums, and what asks for them, as a fuzz input says.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "proto/base/limits.h"
#include "proto/messages.h"
#include "tests/fuzz/fuzz_bytes.h"

namespace firn::fuzz {

// Of an even number of generations under a key.
inline proto::CheckRequest check_request(std::vector<std::uint32_t> generations) {
  proto::CheckRequest request{std::move(generations), {}};
  if (const std::size_t count = request.generations.size(); count % 2 == 0)
    request.key.assign(limits::kCheckKeyBytes, static_cast<std::uint8_t>(count));
  return request;
}

// Sums of a generation of so many blocks, or of a wrong size.
inline proto::CheckReply check_reply(FuzzBytes& in, std::uint32_t g, std::uint32_t blocks_in_g) {
  const std::uint8_t kind = in.byte();
  proto::CheckReply reply{g, {}, {}};
  if (kind % 4 != 0) reply.key.assign(limits::kCheckKeyBytes, kind);
  constexpr std::size_t kTagBytes[] = {4, 8, 16, 4, 4, 5, 0, 17};
  const std::size_t blocks = std::min(blocks_in_g, std::uint32_t{limits::kGenerationSizeMax});
  const std::size_t bytes = blocks * kTagBytes[kind / 4 % 8];
  reply.sums.resize(std::min(bytes, limits::kGenerationSizeMax * limits::kCheckTagBytesMax));
  return reply;
}

}  // namespace firn::fuzz
