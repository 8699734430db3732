#include "tracker/swarm.h"

#include <algorithm>
#include <tuple>
#include <vector>

#include "tracker/swarm_sample.h"

namespace firn::tracker {

// A crowd's slot is where it stands in crowds_; a crowd that becomes another keeps it.
void Swarm::place(std::uint32_t peer, PeerTables& tables) {
  PrefixTable& prefixes = tables.prefixes;
  PeerRecord& record = tables.peers[peer];
  const auto moved = [&](Crowd crowd, std::uint32_t slot) { prefixes.slot(crowd) = slot; };
  const Crowd crowd = prefixes.find(record.content, origin_of(record));
  record.kind = prefixes.kind_for(peer, crowd);
  if (crowd == kNone) {
    prefixes.add_alone(peer);
    crowds_.add(peer, record.kind, moved);
  } else {
    const Kind before = prefixes.kind_of(crowd);
    const std::uint32_t slot = prefixes.slot(crowd);
    const Crowd now = prefixes.add(peer, crowd);
    crowds_.replace(slot, now);
    crowds_.change(slot, before, prefixes.kind_of(now), moved);
  }
  for (const With with : {kWithIncomplete, kWithAny}) fitting_[with] += fits(record.kind, with);
  complete_ += record.peer.complete;
  count_lack({}, record.peer);
  ++size_;
}

void Swarm::displace(std::uint32_t peer, PeerTables& tables) {
  PrefixTable& prefixes = tables.prefixes;
  const PeerRecord& record = tables.peers[peer];
  const auto moved = [&](Crowd crowd, std::uint32_t slot) { prefixes.slot(crowd) = slot; };
  if (!record.is_grouped) {
    crowds_.remove(record.slot, record.kind, moved);
    prefixes.remove_alone(peer);
  } else {
    const Crowd crowd = prefixes.crowd_of(peer);
    const Kind before = prefixes.kind_of(crowd);
    const std::uint32_t slot = prefixes.slot(crowd);
    const Crowd left = prefixes.remove(peer);
    crowds_.replace(slot, left);
    crowds_.change(slot, before, prefixes.kind_of(left), moved);
  }
  for (const With with : {kWithIncomplete, kWithAny}) fitting_[with] -= fits(record.kind, with);
  complete_ -= record.peer.complete;
  count_lack(record.peer, {});
  --size_;
}

void Swarm::count_lack(const PackedPeer& before, const PackedPeer& now) {
  lacking_ += (now.lacks_percent > 0) - (before.lacks_percent > 0);
  lacking_percent_ += now.lacks_percent - before.lacks_percent;
}

bool Swarm::renew(std::uint32_t peer, const PackedPeer& announced, Time now, PeerTables& tables) {
  PeerRecord& record = tables.peers[peer];
  const bool is_hidden_for_others = record.kind == Kind::kHidden && announced.endpoint.port != 0;
  if (is_hidden_for_others || record.peer != announced) return false;
  record.seen = now;
  count_lack(record.peer, announced);
  record.peer.lacks_percent = announced.lacks_percent;
  if (shares_) shares_->of_peers.touch(record.swarm_share);
  return true;
}

void Swarm::add(std::uint32_t peer, PeerTables& tables) {
  place(peer, tables);
  PeerRecord& record = tables.peers[peer];
  if (shares_) record.swarm_share = shares_->of_peers.add(origin_of(record), peer);
}

void Swarm::change(std::uint32_t peer, const PackedPeer& announced, PeerTables& tables) {
  PeerRecord& record = tables.peers[peer];
  displace(peer, tables);
  if (shares_) shares_->of_peers.remove(record.swarm_share);
  record.peer = announced;
  add(peer, tables);
}

void Swarm::remove(std::uint32_t peer, PeerTables& tables) {
  displace(peer, tables);
  if (shares_) shares_->of_peers.remove(tables.peers[peer].swarm_share);
  if (shares_ && size_ <= shares_->until) shares_.reset();
}

void Swarm::share_out(std::uint64_t seed, PeerTables& tables) {
  std::vector<std::uint32_t> by_age;
  by_age.reserve(size_);
  for_each(tables, [&](std::uint32_t peer) { by_age.push_back(peer); });
  std::sort(by_age.begin(), by_age.end(), [&](std::uint32_t a, std::uint32_t b) {
    const PeerRecord &one = tables.peers[a], &other = tables.peers[b];
    return std::tie(one.seen, one.peer.endpoint.id) < std::tie(other.seen, other.peer.endpoint.id);
  });
  shares_ = std::make_unique<Shares>(seed);
  for (const std::uint32_t peer : by_age) {
    PeerRecord& record = tables.peers[peer];
    record.swarm_share = shares_->of_peers.add(origin_of(record), peer);
  }
  shares_->until = size_ / 2;
}

std::uint32_t Swarm::gives_way(const Origin& newcomer, std::uint64_t seed, PeerTables& tables) {
  if (!shares_) share_out(seed, tables);
  const std::uint32_t* leaving = shares_->of_peers.gives_way(newcomer);
  return leaving == nullptr ? kNone : *leaving;
}

void Swarm::sample(const SampleRequest& request, const PeerTables& tables, Random& random,
                   Endpoints& into) const {
  const With with = request.complete_too ? kWithAny : kWithIncomplete;
  SwarmSample(crowds_, with, tables.peers, tables.prefixes)
      .draw(request, fitting_[with], random, into);
}

}  // namespace firn::tracker
