#include "tests/sim/lab/rivals/rival_requests.h"

#include <algorithm>
#include <utility>

namespace firn::sim {

RivalRequests::End& RivalRequests::end(RivalEndKey key) {
  while (ends_.size() <= key) ends_.emplace_back();
  return ends_[key];
}

RivalRequests::Turns& RivalRequests::turns(const RivalPeer& peer) {
  while (turns_.size() <= peer.index) turns_.emplace_back();
  return turns_[peer.index];
}

// --- receivers ---

void RivalRequests::ask_all(RivalPeer& peer) {
  for (const RivalEndKey key : peer.ends) ask(peer, key);
}

void RivalRequests::ask(RivalPeer& peer, RivalEndKey key) {
  if (!mesh_.open(key) || !peer.here || peer.spec.source) return;
  RivalPeer& from = mesh_.owner(key ^ 1);
  // Where receivers do not ask, a sender that stands idle may have found something to do.
  if (rules_.pipeline == 0 || pushes(from)) return senders_.transmit(from);
  if (from.spec.takes_only) return;
  std::vector<BlockId>& asked = end(key).asked;
  while (asked.size() < rules_.pipeline) {
    const auto id = choose(peer, from, asked.size());
    if (!id) return;
    if (!peer.blocks.taken(*id)) peer.blocks.requested(*id);
    asked.push_back(*id);
    const TimeUs travel = peer.spec.link.delay / 2 + from.spec.link.delay / 2;
    queue_.post({queue_.now() + travel, request_kind_, from.index, pack(key ^ 1, *id)});
  }
}

std::optional<BlockId> RivalRequests::choose(const RivalPeer& to, const RivalPeer& from,
                                             std::size_t open_requests) {
  const auto salt = static_cast<std::uint32_t>(random_.next_u64());
  if (const auto id = to.blocks.rarest(from.blocks, salt, false)) return id;
  if (open_requests > 0 || to.blocks.complete() || !to.blocks.all_requested()) return std::nullopt;
  if (const auto id = to.blocks.rarest(from.blocks, salt, true)) return id;
  return twice(to, from);
}

// Endgame: a block that one other neighbour has been asked for.
std::optional<BlockId> RivalRequests::twice(const RivalPeer& to, const RivalPeer& from) {
  std::vector<BlockId> all;
  for (const RivalEndKey key : to.ends) {
    all.insert(all.end(), end(key).asked.begin(), end(key).asked.end());
  }
  for (const BlockId id : all) {
    if (from.blocks.has(id) && std::count(all.begin(), all.end(), id) == 1) return id;
  }
  return std::nullopt;
}

void RivalRequests::answered(RivalEndKey key, BlockId id) {
  std::erase(end(key).asked, id);
}

bool RivalRequests::cancel(RivalPeer& peer, BlockId id) {
  bool any = false;
  for (const RivalEndKey key : peer.ends) {
    if (std::erase(end(key).asked, id) == 0) continue;
    std::erase(end(key ^ 1).to_send, id);
    any = true;
  }
  return any;
}

bool RivalRequests::cancel_group(RivalPeer& peer, std::uint32_t group) {
  if (rules_.per_group == 1) return false;  // that was the block itself
  bool any = false;
  for (const RivalEndKey key : peer.ends) {
    const std::vector<BlockId> asked = end(key).asked;
    for (const BlockId id : asked) {
      if (group_of_[id] != group || peer.blocks.has(id)) continue;
      any |= cancel(peer, id);
      peer.blocks.given_up(id);
    }
  }
  return any;
}

void RivalRequests::closed(RivalPeer& peer, RivalEndKey key) {
  for (const BlockId id : std::exchange(end(key).asked, {})) {
    const bool elsewhere = std::any_of(peer.ends.begin(), peer.ends.end(), [&](RivalEndKey other) {
      const auto& asked = end(other).asked;
      return std::find(asked.begin(), asked.end(), id) != asked.end();
    });
    if (!elsewhere) peer.blocks.given_up(id);
  }
}

// --- senders ---

void RivalRequests::arrived(RivalEndKey key, BlockId id) {
  const std::vector<BlockId>& asked = end(key ^ 1).asked;
  if (!mesh_.open(key) || std::find(asked.begin(), asked.end(), id) == asked.end()) return;
  RivalPeer& sender = mesh_.owner(key);
  if (!std::exchange(end(key).in_turns, true)) turns(sender).asked.push_back(key);
  end(key).to_send.push_back(id);
  senders_.transmit(sender);
}

std::optional<RivalRequests::Choice> RivalRequests::next(RivalPeer& sender) {
  if (pushes(sender)) return chosen_by_source(sender);
  if (rules_.pipeline == 0) return rarest_for_any(sender);
  return asked_first(sender);
}

std::optional<RivalRequests::Choice> RivalRequests::asked_first(RivalPeer& sender) {
  std::deque<RivalEndKey>& waiting = turns(sender).asked;
  while (!waiting.empty()) {
    const RivalEndKey key = waiting.front();
    waiting.pop_front();
    End& from = end(key);
    from.in_turns = false;
    if (!mesh_.open(key) || from.to_send.empty()) continue;
    const BlockId id = from.to_send.front();
    from.to_send.pop_front();
    from.in_turns = !from.to_send.empty();
    if (from.in_turns) waiting.push_back(key);
    return Choice{key, id};
  }
  return std::nullopt;
}

RivalRequests::Choice RivalRequests::granted(RivalEndKey key, BlockId id) {
  mesh_.owner(key ^ 1).blocks.requested(id);
  end(key ^ 1).asked.push_back(id);
  return {key, id};
}

std::optional<RivalRequests::Choice> RivalRequests::rarest_for_any(RivalPeer& sender) {
  std::size_t& first = turns(sender).next;
  for (std::size_t i = 0; i < sender.ends.size(); ++i) {
    const std::size_t at = (first + i) % sender.ends.size();
    const RivalPeer& to = mesh_.owner(sender.ends[at] ^ 1);
    if (to.spec.source || to.blocks.complete()) continue;
    const auto salt = static_cast<std::uint32_t>(random_.next_u64());
    const auto rarest = to.blocks.rarest(sender.blocks, salt, false);
    if (!rarest) continue;
    first = at + 1;
    return granted(sender.ends[at], *rarest);
  }
  return std::nullopt;
}

// To the neighbour served least for its uplink.
std::optional<RivalRequests::Choice> RivalRequests::chosen_by_source(RivalPeer& source) {
  std::vector<RivalEndKey> order = source.ends;
  std::stable_sort(order.begin(), order.end(),
                   [&](RivalEndKey a, RivalEndKey b) { return end(a).pushed < end(b).pushed; });
  for (const RivalEndKey key : order) {
    const RivalPeer& to = mesh_.owner(key ^ 1);
    if (to.spec.source || to.blocks.complete()) continue;
    const auto block = senders_.source_block(to.index);
    if (!block) continue;
    end(key).pushed += 1 / to.spec.link.up;
    return granted(key, *block);
  }
  return std::nullopt;
}

}  // namespace firn::sim
