// Which block comes next: what peers ask each other for, and what an uplink sends.
#include <algorithm>

#include "tests/sim/lab/rivals/rival_peer.h"
#include "tests/sim/lab/rivals/rival_swarm.h"

namespace firn::sim {

// --- receivers ---

void RivalSwarm::ask_all(Peer& peer) {
  for (const EndKey key : peer.ends) ask(peer, key);
}

void RivalSwarm::ask(Peer& peer, EndKey key) {
  End& end = ends_[key];
  if (!end.open || !peer.here || peer.spec.source) return;
  Peer& from = owner(key ^ 1);
  // Where nobody asks, a sender that stands idle may have found something to do.
  if (rules_.pipeline == 0 || pushes(from)) return transmit(from);
  if (from.spec.takes_only) return;
  while (end.asked.size() < rules_.pipeline) {
    const auto id = choose(peer, from, end.asked.size());
    if (!id) return;
    if (!peer.blocks.taken(*id)) peer.blocks.requested(*id);
    end.asked.push_back(*id);
    const TimeUs travel = peer.spec.link.delay / 2 + from.spec.link.delay / 2;
    queue_.post({queue_.now() + travel, kRequest, from.index, 0, pack(key ^ 1, *id)});
  }
}

std::optional<BlockId> RivalSwarm::choose(const Peer& to, const Peer& from,
                                          std::size_t open_requests) {
  const auto salt = static_cast<std::uint32_t>(random_.next_u64());
  if (const auto id = to.blocks.rarest(from.blocks, salt, false)) return id;
  if (open_requests > 0 || to.blocks.complete() || !to.blocks.all_requested()) return std::nullopt;
  if (const auto id = to.blocks.rarest(from.blocks, salt, true)) return id;
  return twice(to, from);
}

// Endgame: a block that one other neighbour has been asked for.
std::optional<BlockId> RivalSwarm::twice(const Peer& to, const Peer& from) const {
  std::vector<BlockId> all;
  for (const EndKey key : to.ends) {
    all.insert(all.end(), ends_[key].asked.begin(), ends_[key].asked.end());
  }
  for (const BlockId id : all) {
    if (from.blocks.has(id) && std::count(all.begin(), all.end(), id) == 1) return id;
  }
  return std::nullopt;
}

// It has come, or is of no use any more: nobody else need send it.
bool RivalSwarm::cancel(Peer& peer, BlockId id) {
  bool any = false;
  for (const EndKey key : peer.ends) {
    if (std::erase(ends_[key].asked, id) == 0) continue;
    std::erase(ends_[key ^ 1].to_send, id);
    any = true;
  }
  return any;
}

bool RivalSwarm::cancel_group(Peer& peer, std::uint32_t group) {
  if (rules_.per_group == 1) return false;  // that was the block itself
  bool any = false;
  for (const EndKey key : peer.ends) {
    const std::vector<BlockId> asked = ends_[key].asked;
    for (const BlockId id : asked) {
      if (group_of_[id] != group || peer.blocks.has(id)) continue;
      any |= cancel(peer, id);
      peer.blocks.given_up(id);
    }
  }
  return any;
}

// --- senders ---

bool RivalSwarm::next_to_send(Peer& peer, EndKey& key, BlockId& id) {
  if (pushes(peer)) return next_by_source(peer, key, id);
  if (rules_.pipeline == 0) return next_by_choice(peer, key, id);
  while (!peer.turns.empty()) {
    key = peer.turns.front();
    peer.turns.pop_front();
    End& end = ends_[key];
    end.in_turns = false;
    if (!end.open || end.to_send.empty()) continue;
    id = end.to_send.front();
    end.to_send.pop_front();
    end.in_turns = !end.to_send.empty();
    if (end.in_turns) peer.turns.push_back(key);
    return true;
  }
  return false;
}

bool RivalSwarm::next_by_choice(Peer& peer, EndKey& key, BlockId& id) {
  for (std::size_t i = 0; i < peer.ends.size(); ++i) {
    const std::size_t at = (peer.next_turn + i) % peer.ends.size();
    Peer& to = owner(peer.ends[at] ^ 1);
    if (to.spec.source || to.blocks.complete()) continue;
    const auto salt = static_cast<std::uint32_t>(random_.next_u64());
    const auto rarest = to.blocks.rarest(peer.blocks, salt, false);
    if (!rarest) continue;
    key = peer.ends[at];
    id = *rarest;
    to.blocks.requested(id);
    ends_[key ^ 1].asked.push_back(id);
    peer.next_turn = at + 1;
    return true;
  }
  return false;
}

// To the neighbour served least for its uplink.
bool RivalSwarm::next_by_source(Peer& source, EndKey& key, BlockId& id) {
  std::vector<EndKey> order = source.ends;
  std::stable_sort(order.begin(), order.end(),
                   [&](EndKey a, EndKey b) { return ends_[a].pushed < ends_[b].pushed; });
  for (const EndKey end : order) {
    Peer& to = owner(end ^ 1);
    if (to.spec.source || to.blocks.complete()) continue;
    const auto block = source_block(to.index);
    if (!block) continue;
    key = end;
    id = *block;
    to.blocks.requested(id);
    ends_[end ^ 1].asked.push_back(id);
    ends_[end].pushed += 1 / to.spec.link.up;
    return true;
  }
  return false;
}

}  // namespace firn::sim
