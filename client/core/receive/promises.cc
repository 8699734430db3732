#include "client/core/receive/promises.h"

namespace firn::core {

void Promises::update(const Neighbour& n, TimeUs now) {
  Part& part = parts_[n.key];
  const bool counts = n.useful() && !n.grants.stalled(now);
  const std::uint32_t blocks = counts ? n.grants.outstanding() : 0;
  sum_ += blocks;
  sum_ -= part.blocks;
  part.blocks = blocks;
  part.stalls_after = n.grants.stalls_after();
  if (blocks == 0 || part.noted) return;
  part.noted = true;
  stalls_.emplace(part.stalls_after, n.key);
}

void Promises::neighbour_left(PeerKey peer) {
  const auto known = parts_.find(peer);
  if (known == parts_.end()) return;
  sum_ -= known->second.blocks;
  parts_.erase(known);
}

std::uint64_t Promises::sum(TimeUs now) {
  while (!stalls_.empty() && stalls_.top().first < now) {
    const PeerKey peer = stalls_.top().second;
    stalls_.pop();
    const auto known = parts_.find(peer);
    if (known == parts_.end()) continue;  // it has left
    Part& part = known->second;
    part.noted = part.blocks > 0 && part.stalls_after >= now;
    if (part.noted) {
      stalls_.emplace(part.stalls_after, peer);
    } else {
      sum_ -= part.blocks;
      part.blocks = 0;
    }
  }
  return sum_;
}

}  // namespace firn::core
