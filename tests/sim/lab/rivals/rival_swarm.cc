#include "tests/sim/lab/rivals/rival_swarm.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace firn::sim {

namespace {

constexpr std::uint32_t kSmallMesh = 24;
constexpr std::uint32_t kNeighbours = 16;

}  // namespace

RivalSwarm::RivalSwarm(const RivalRules& rules, std::uint64_t seed)
    : rules_(rules),
      random_(seed, 0x726976616c),
      requests_(rules_, group_of_, kRequest, mesh_, queue_, random_, *this) {
  if (rules_.per_group > 1) return;
  // Not coded: the blocks are all there from the start.
  for (std::uint32_t g = 0; g < rules_.groups; ++g) group_of_.push_back(g);
}

std::optional<BlockId> RivalSwarm::source_block(std::size_t) {
  return std::nullopt;
}
bool RivalSwarm::gains(std::size_t, BlockId) {
  return true;
}
void RivalSwarm::got(std::size_t, BlockId) {}
void RivalSwarm::went(std::size_t) {}

const LabPeerSpec& RivalSwarm::spec(std::size_t peer) const {
  return mesh_.peer(peer).spec;
}

LabPeerResult RivalSwarm::result(std::size_t peer) const {
  LabPeerResult result = mesh_.peer(peer).result;
  result.neighbours = static_cast<std::uint32_t>(mesh_.peer(peer).ends.size());
  return result;
}

const BlockMap& RivalSwarm::blocks_of(std::size_t peer) const {
  return mesh_.peer(peer).blocks;
}

BlockId RivalSwarm::new_block(std::uint32_t group) {
  group_of_.push_back(group);
  mesh_.grow(group_of_.size());
  return static_cast<BlockId>(group_of_.size() - 1);
}

std::size_t RivalSwarm::add(const LabPeerSpec& spec) {
  const std::uint32_t index =
      mesh_.add(spec, BlockMap(group_of_, rules_.groups, rules_.per_group)).index;
  if (!spec.source) ++left_;
  queue_.post({spec.joins, kJoin, index, 0});
  if (spec.crashes != kNever) queue_.post({spec.crashes, kLeave, index, 0});
  return index;
}

bool RivalSwarm::run(TimeUs until) {
  while (left_ > 0 && !queue_.empty()) {
    const LabEvent event = queue_.take();
    if (event.time > until) return false;
    handle(event);
  }
  return left_ == 0;
}

void RivalSwarm::handle(const LabEvent& event) {
  RivalPeer& peer = mesh_.peer(event.peer);
  const auto key = static_cast<RivalEndKey>(event.value >> 32);
  const auto id = static_cast<BlockId>(event.value);
  switch (event.kind) {
    case kJoin:
      // Peers that join at the same time meet after all of them have joined.
      peer.here = true;
      members_.push_back(peer.index);
      if (peer.spec.source && !source_chooses()) peer.blocks.fill();
      return queue_.post({queue_.now(), kMeet, event.peer, 0});
    case kMeet:
      return meet(peer);
    case kRequest:
      return requests_.arrived(key, id);
    case kDeparted:
      return departed(peer, key, id);
    case kArrived:
      return arrived(key, id);
    default:
      return die(peer);
  }
}

// --- meeting and parting ---

// Each peer calls half as many as wanted, so that with the calls of others the graph is a random
// one of that degree.
void RivalSwarm::meet(RivalPeer& peer) {
  if (!peer.here) return;
  const std::uint32_t wanted = rules_.neighbours > 0 ? rules_.neighbours : kNeighbours;
  const bool all = rules_.neighbours == 0 && mesh_.size() <= kSmallMesh + 1;
  const std::size_t calls = all ? mesh_.size() : (wanted + 1) / 2;
  std::size_t called = 0;
  const auto known = static_cast<std::uint32_t>(members_.size());
  for (std::uint32_t i = 0; i < known && called < calls; ++i) {
    std::swap(members_[i], members_[i + random_.below(known - i)]);
    RivalPeer& other = mesh_.peer(members_[i]);
    const bool met = std::any_of(peer.ends.begin(), peer.ends.end(),
                                 [&](RivalEndKey key) { return &mesh_.owner(key ^ 1) == &other; });
    if (&other == &peer || met || !other.spec.listens) continue;
    if (peer.spec.source && other.spec.source) continue;
    join(peer, other);
    ++called;
  }
}

void RivalSwarm::join(RivalPeer& a, RivalPeer& b) {
  const RivalEndKey key = mesh_.join(a, b);
  a.blocks.neighbour_came(b.blocks);
  b.blocks.neighbour_came(a.blocks);
  requests_.ask(a, key);
  requests_.ask(b, key + 1);
  transmit(a);
  transmit(b);
}

void RivalSwarm::die(RivalPeer& peer) {
  if (!peer.here) return;
  peer.here = false;
  peer.result.gone = queue_.now();
  std::erase(members_, peer.index);
  if (!peer.spec.source && peer.result.completed < 0) --left_;
  if (peer.spec.source) source_left_ = queue_.now();
  went(peer.index);
  for (const RivalEndKey key : std::exchange(peer.ends, {})) {
    mesh_.close(key);
    lose(mesh_.owner(key ^ 1), key ^ 1);
  }
}

void RivalSwarm::lose(RivalPeer& peer, RivalEndKey key) {
  mesh_.close(key);
  std::erase(peer.ends, key);
  peer.blocks.neighbour_went(mesh_.owner(key ^ 1).blocks);
  requests_.closed(peer, key);
  const std::uint32_t wanted = rules_.neighbours > 0 ? rules_.neighbours : kNeighbours;
  if (peer.ends.size() < (wanted + 1) / 2) meet(peer);
  requests_.ask_all(peer);
  transmit(peer);
}

// --- uplinks ---

void RivalSwarm::transmit(RivalPeer& peer) {
  if (!peer.here || peer.sending || peer.spec.takes_only) return;
  if (const auto next = requests_.next(peer)) send(peer, next->key, next->id);
}

void RivalSwarm::send(RivalPeer& peer, RivalEndKey key, BlockId id) {
  const double bytes = rules_.frame_bytes * rules_.wire_share;
  const auto takes = static_cast<TimeUs>(std::ceil(bytes / peer.spec.link.up * 1e6));
  peer.sending = true;
  if (trace_) {
    const std::uint64_t received = peer.result.innovative + peer.result.redundant;
    trace_->push_back({peer.index, mesh_.owner(key ^ 1).index, received, bytes});
  }
  peer.result.bytes_sent += bytes;
  peer.result.busy_us += static_cast<double>(takes);
  queue_.post({queue_.now() + takes, kDeparted, peer.index, pack(key, id)});
}

void RivalSwarm::departed(RivalPeer& peer, RivalEndKey key, BlockId id) {
  peer.sending = false;
  if (!peer.here) return;
  ++peer.result.blocks_sent;
  RivalPeer& to = mesh_.owner(key ^ 1);
  TimeUs at = queue_.now() + peer.spec.link.delay / 2 + to.spec.link.delay / 2;
  if (to.spec.link.down > 0) {
    const double bytes = rules_.frame_bytes * rules_.wire_share;
    at = std::max(at, to.downlink_free) + static_cast<TimeUs>(bytes / to.spec.link.down * 1e6);
    to.downlink_free = at;
  }
  queue_.post({at, kArrived, to.index, pack(key ^ 1, id)});
  const auto content = static_cast<double>(blocks_in_content());
  if (peer.spec.source && rules_.source_copies > 0 &&
      static_cast<double>(peer.result.blocks_sent) >= rules_.source_copies * content) {
    return die(peer);
  }
  transmit(peer);
}

void RivalSwarm::arrived(RivalEndKey key, BlockId id) {
  RivalPeer& peer = mesh_.owner(key);
  if (!peer.here || peer.spec.source) return;
  requests_.answered(key, id);
  const std::uint32_t group = group_of_[id];
  if (peer.blocks.has(id) || !peer.blocks.group_wanted(group)) {
    ++peer.result.redundant;
    return requests_.ask(peer, key);
  }
  if (!peer.blocks.taken(id)) peer.blocks.requested(id);  // its sender went meanwhile
  const bool more = gains(peer.index, id);
  ++(more ? peer.result.innovative : peer.result.redundant);
  const bool group_done = peer.blocks.arrived(id, more);
  if (more) got(peer.index, id);
  peer.rows += more ? 1 : 0;
  if (group_done) {
    if (peer.result.first_generation < 0) peer.result.first_generation = queue_.now();
    peer.rows -= rules_.per_group;
  }
  peer.result.rows_max = std::max(peer.result.rows_max, peer.rows);
  bool cancelled = requests_.cancel(peer, id);
  if (group_done) cancelled |= requests_.cancel_group(peer, group);
  tell(peer, id);
  if (peer.blocks.complete() && peer.result.completed < 0) {
    peer.result.completed = queue_.now();
    --left_;
    if (peer.spec.leaves_after != kNever) {
      queue_.post({queue_.now() + peer.spec.leaves_after, kLeave, peer.index, 0});
    }
  }
  if (cancelled) {
    requests_.ask_all(peer);
  } else {
    requests_.ask(peer, key);
  }
  transmit(peer);
}

// Neighbours learn at once what a peer has got.
void RivalSwarm::tell(RivalPeer& peer, BlockId id) {
  for (const RivalEndKey key : peer.ends) {
    RivalPeer& other = mesh_.owner(key ^ 1);
    other.blocks.neighbour_has(id);
    if (rules_.pipeline > 0 && other.blocks.wants(id)) requests_.ask(other, key ^ 1);
  }
}

}  // namespace firn::sim
