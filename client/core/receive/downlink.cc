#include "client/core/receive/downlink.h"

namespace firn::core {

// What a block's frame holds beside payload and coding vector, about: the down limit counts it
// before the block has come.
constexpr std::uint64_t kBlockFrameBytes = 24;

void Downlink::set_shape(const Shape& shape) {
  charge_ = std::uint64_t{shape.block_bytes} + shape.generation_size + kBlockFrameBytes;
}

void Downlink::received(std::uint64_t bytes, bool block) {
  bytes_received_ += bytes;
  if (block && charge_ > 0) {
    settle(charge_, bytes);
  } else {
    take(bytes);
  }
}

std::uint64_t Downlink::blocks_allowed(TimeUs now) {
  if (unlimited()) return UINT64_MAX;
  const auto blocks = static_cast<std::uint64_t>(available(now)) / charge_;
  // A block larger than all that can be saved up passes as well, and is paid for afterwards.
  return blocks > 0 ? blocks : ready(now) ? 1 : 0;
}

}  // namespace firn::core
