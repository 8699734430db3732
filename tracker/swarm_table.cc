#include "tracker/swarm_table.h"

#include <algorithm>

namespace firn::tracker {

SwarmTable::Kind SwarmTable::kind_of(const Peer& peer) {
  if (peer.endpoint.port == 0) return kHidden;
  return peer.complete ? kComplete : kIncomplete;
}

void SwarmTable::put_in_kind(Swarm& swarm, Entry& entry) {
  auto& kind = swarm.kinds[kind_of(entry.peer)];
  entry.slot = kind.size();
  kind.push_back(&entry);
  if (entry.peer.complete) ++swarm.complete;
}

void SwarmTable::take_from_kind(Swarm& swarm, Entry& entry) {
  auto& kind = swarm.kinds[kind_of(entry.peer)];
  kind[entry.slot] = kind.back();
  kind[entry.slot]->slot = entry.slot;
  kind.pop_back();
  if (entry.peer.complete) --swarm.complete;
}

AnnounceOutcome SwarmTable::announce(const ContentId& content, const Peer& peer, Time now) {
  auto found = swarms_.find(content);
  const bool known = found != swarms_.end() && found->second.entries.contains(peer.endpoint.id);
  if (!known) {
    if (ages_.size() >= limits_.peer_count_max) return AnnounceOutcome::kTrackerFull;
    if (found == swarms_.end()) {
      if (swarms_.size() >= limits_.content_count_max) return AnnounceOutcome::kTrackerFull;
      found = swarms_.try_emplace(content).first;
    } else if (found->second.entries.size() >= limits_.peers_per_content_max) {
      return AnnounceOutcome::kSwarmFull;
    }
  }
  Swarm& swarm = found->second;
  Entry& entry = swarm.entries[peer.endpoint.id];
  if (known) {
    take_from_kind(swarm, entry);
    ages_.splice(ages_.end(), ages_, entry.age);
  } else {
    entry.age = ages_.insert(ages_.end(), {content, peer.endpoint.id});
  }
  entry.peer = peer;
  entry.seen = now;
  put_in_kind(swarm, entry);
  return AnnounceOutcome::kKept;
}

bool SwarmTable::leave(const ContentId& content, const PeerId& peer) {
  const auto found = swarms_.find(content);
  if (found == swarms_.end()) return false;
  Swarm& swarm = found->second;
  const auto entry = swarm.entries.find(peer);
  if (entry == swarm.entries.end()) return false;
  take_from_kind(swarm, entry->second);
  ages_.erase(entry->second.age);
  swarm.entries.erase(entry);
  if (swarm.entries.empty()) swarms_.erase(found);
  return true;
}

void SwarmTable::expire(Time before,
                        const std::function<void(const ContentId&, const PeerId&)>& gone) {
  while (!ages_.empty()) {
    const auto [content, peer] = ages_.front();
    if (swarms_.at(content).entries.at(peer).seen >= before) return;
    gone(content, peer);
    leave(content, peer);
  }
}

void SwarmTable::for_each(const std::function<void(const ContentId&, const Peer&)>& visit) const {
  for (const auto& [content, id] : ages_) visit(content, *find(content, id));
}

const Peer* SwarmTable::find(const ContentId& content, const PeerId& peer) const {
  const auto swarm = swarms_.find(content);
  if (swarm == swarms_.end()) return nullptr;
  const auto entry = swarm->second.entries.find(peer);
  return entry == swarm->second.entries.end() ? nullptr : &entry->second.peer;
}

SwarmCounts SwarmTable::counts(const ContentId& content) const {
  const auto found = swarms_.find(content);
  if (found == swarms_.end()) return {};
  const Swarm& swarm = found->second;
  return {swarm.complete, static_cast<std::uint32_t>(swarm.entries.size()) - swarm.complete};
}

// Draws without putting back: a Fisher-Yates shuffle of which only the drawn places are made, with
// the places that hold something else than at the start kept in a map.
std::vector<proto::PeerEndpoint> SwarmTable::sample(const ContentId& content,
                                                    const SampleRequest& request,
                                                    Random& random) const {
  std::vector<proto::PeerEndpoint> drawn;
  const auto found = swarms_.find(content);
  if (found == swarms_.end()) return drawn;
  const auto& incomplete = found->second.kinds[kIncomplete];
  const auto& complete = found->second.kinds[kComplete];
  const std::size_t count = incomplete.size() + (request.complete_too ? complete.size() : 0);
  std::unordered_map<std::size_t, std::size_t> moved;
  const auto at = [&](std::size_t place) {
    const auto other = moved.find(place);
    return other == moved.end() ? place : other->second;
  };
  for (std::size_t first = 0; first < count && drawn.size() < request.peers_max; ++first) {
    const std::size_t place = std::uniform_int_distribution(first, count - 1)(random);
    const std::size_t index = at(place);
    moved[place] = at(first);
    const Entry* entry =
        index < incomplete.size() ? incomplete[index] : complete[index - incomplete.size()];
    if (entry->peer.endpoint.id != request.asker) drawn.push_back(entry->peer.endpoint);
  }
  return drawn;
}

}  // namespace firn::tracker
