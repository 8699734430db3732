#include "proto/transport/departures.h"

#include <algorithm>

namespace firn::proto::transport {

void Departures::add(std::size_t frame_bytes, FrameTag tag) {
  added_bytes_ += frame_bytes;
  if (tag != kUntagged) awaited_.push_back({added_bytes_, tag});
}

FrameTag Departures::next(std::size_t unsent_bytes) {
  // Queues further on may also hold bytes of TLS: more than was added.
  const std::uint64_t left = added_bytes_ - std::min<std::uint64_t>(added_bytes_, unsent_bytes);
  if (awaited_.empty() || awaited_.front().end > left) return kUntagged;
  const FrameTag tag = awaited_.front().tag;
  awaited_.pop_front();
  return tag;
}

}  // namespace firn::proto::transport
