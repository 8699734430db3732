#include "tests/sim/lab/tracker.h"

#include <algorithm>
#include <utility>

namespace firn::sim {

namespace {

constexpr std::uint32_t kAnnounceSeconds = 30;

}  // namespace

proto::AnnounceReply LabTracker::announced(std::uint32_t peer, const PeerId& id,
                                           const std::string& ip, std::uint64_t wanted,
                                           codec::CoefficientStream& random) {
  proto::AnnounceReply reply;
  reply.interval_seconds = kAnnounceSeconds;
  reply.incomplete_count = static_cast<std::uint32_t>(known_.size());
  // A random choice of those known: the first steps of a shuffle, in place.
  const auto count = static_cast<std::uint32_t>(known_.size());
  for (std::uint32_t i = 0; i < count && reply.peers.size() < wanted; ++i) {
    std::swap(known_[i], known_[i + random.below(count - i)]);
    const Known& other = known_[i];
    if (other.peer == peer) continue;
    reply.peers.push_back({other.id, other.ip, static_cast<std::uint16_t>(other.peer + 1)});
  }
  const auto same = [&](const Known& other) { return other.peer == peer; };
  if (!ip.empty() && std::find_if(known_.begin(), known_.end(), same) == known_.end()) {
    known_.push_back({peer, id, ip});
  }
  return reply;
}

void LabTracker::forget(std::uint32_t peer) {
  std::erase_if(known_, [&](const Known& known) { return known.peer == peer; });
}

}  // namespace firn::sim
