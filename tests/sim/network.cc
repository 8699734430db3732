#include "tests/sim/network.h"

#include <algorithm>

#include "proto/base/result.h"
#include "tests/sim/progress.h"

namespace firn::sim {

Network::Network(const Content& content, std::uint64_t seed)
    : content_(content), trace_(seed), random_(seed, 0x6e6574) {}
Network::~Network() = default;

std::size_t Network::add(const PeerSpec& spec) {
  peers_.push_back(std::make_unique<Peer>(*this, peers_.size(), spec));
  downlinks_free_.push_back(0);
  Peer* peer = peers_.back().get();
  events_.at(spec.joins, [peer] { peer->start(); });
  return peers_.size() - 1;
}

void Network::crash(std::size_t index) {
  if (!peers_[index]->alive()) return;
  peers_[index]->stop_dead();
  announced_.erase(index);
  std::vector<core::PeerKey> gone;
  for (auto& [key, c] : connections_) {
    if (c.a == index || c.b == index) gone.push_back(key);
  }
  for (const core::PeerKey key : gone) {
    const Connection c = connections_[key];
    connections_.erase(key);
    const std::size_t other = c.a == index ? c.b : c.a;
    const core::PeerKey other_key = c.a == index ? c.key_b : c.key_a;
    peers_[other]->later(peers_[index]->spec().link.delay,
                         [this, other, other_key] { peers_[other]->lost(other_key); });
  }
}

void Network::restart(std::size_t index) {
  if (peers_[index]->crashed()) peers_[index]->start();
}

void Network::cut_some_connection() {
  if (connections_.empty()) return;
  auto it = connections_.begin();
  std::advance(it, random_.below(static_cast<std::uint32_t>(connections_.size())));
  const Connection c = it->second;
  connections_.erase(it);
  for (const auto& [index, key] : {std::pair{c.a, c.key_a}, std::pair{c.b, c.key_b}}) {
    peers_[index]->later(1000, [this, index = index, key = key] { peers_[index]->lost(key); });
  }
}

void Network::connect(std::size_t from, std::uint64_t attempt, const Address& address) {
  Peer& caller = *peers_[from];
  const std::size_t to = address.port - 1u;
  const TimeUs round_trips = 4 * caller.spec().link.delay;
  caller.later(round_trips, [this, from, to, attempt, address] {
    Peer& caller = *peers_[from];
    const bool there = to < peers_.size() && peers_[to]->answers_calls();
    if (!there || (address.id && *address.id != peers_[to]->id())) {
      const auto code = there ? ErrorCode::kWrongIdentity : ErrorCode::kUnreachable;
      caller.core().connect_failed(attempt, {code, "connect", "simulated"}, caller.now());
      caller.act();
      return;
    }
    Peer& callee = *peers_[to];
    const TimeUs round_trip = caller.spec().link.delay + callee.spec().link.delay;
    const core::PeerKey key = next_key_;
    next_key_ += 2;
    connections_[key] = {from, to, key, key + 1};
    caller.uplink().open(key);
    callee.uplink().open(key + 1);
    caller.core().peer_opened(key, callee.id(), address_of(to), static_cast<std::uint16_t>(to + 1),
                              attempt, caller.now(), round_trip);
    callee.core().peer_opened(key + 1, caller.id(), address_of(from), 0, 0, callee.now(),
                              round_trip);
    caller.act();
    callee.act();
  });
}

TimeUs Network::arrival(std::size_t from, std::size_t to, std::size_t bytes) {
  const Peer& receiver = *peers_[to];
  TimeUs at = events_.now() + peers_[from]->spec().link.delay / 2 + receiver.spec().link.delay / 2;
  if (receiver.spec().link.down <= 0) return at;
  const double takes = static_cast<double>(bytes) / receiver.spec().link.down * 1e6;
  at = std::max(at, downlinks_free_[to]) + static_cast<TimeUs>(takes);
  return downlinks_free_[to] = at;
}

bool Network::reads(std::size_t from, core::PeerKey key) const {
  const auto it = connections_.find(key & ~core::PeerKey{1});
  if (it == connections_.end()) return true;
  const std::size_t to = it->second.a == from ? it->second.b : it->second.a;
  return !peers_[to]->spec().deaf;
}

void Network::deliver(std::size_t from, core::PeerKey key, proto::PeerMessage message,
                      std::size_t bytes) {
  const auto it = connections_.find(key & ~core::PeerKey{1});
  if (it == connections_.end() || it->second.closing) return;
  const Connection& c = it->second;
  const std::size_t to = c.a == from ? c.b : c.a;
  const core::PeerKey to_key = c.a == from ? c.key_b : c.key_a;
  peers_[to]->later(arrival(from, to, bytes) - events_.now(),
                    [this, to, to_key, bytes, message = std::move(message)]() mutable {
                      if (!connections_.contains(to_key & ~core::PeerKey{1})) return;
                      peers_[to]->hear(to_key, std::move(message), bytes);
                    });
}

// What was sent before still arrives, then the end.
void Network::close(std::size_t from, core::PeerKey key) {
  const auto it = connections_.find(key & ~core::PeerKey{1});
  if (it == connections_.end() || it->second.closing) return;
  it->second.closing = true;
  const Connection& c = it->second;
  const std::size_t to = c.a == from ? c.b : c.a;
  const core::PeerKey to_key = c.a == from ? c.key_b : c.key_a;
  events_.at(arrival(from, to, 0), [this, to, to_key] {
    if (connections_.erase(to_key & ~core::PeerKey{1}) > 0) peers_[to]->lost(to_key);
  });
}

void Network::note(std::size_t peer, const std::string& rule) {
  violations_.try_emplace(
      rule, "peer " + std::to_string(peer) + " at " + std::to_string(events_.now()) + " us");
}

void Network::announce(std::size_t from, std::size_t tracker, const proto::Announce& announce) {
  Peer& asker = *peers_[from];
  if (announce.event == proto::AnnounceEvent::kStopped) {
    announced_.erase(from);
    return;
  }
  asker.later(2 * asker.spec().link.delay, [this, from, tracker, announce] {
    Peer& asker = *peers_[from];
    if (!tracker_up_) {
      asker.core().tracker_failed(tracker, {ErrorCode::kUnreachable, "announce", "down"}, 0,
                                  asker.now());
      asker.act();
      return;
    }
    proto::AnnounceReply reply;
    reply.interval_seconds = 30;
    std::vector<proto::PeerEndpoint> others;
    for (const auto& [index, endpoint] : announced_) {
      if (index != from) others.push_back(endpoint);
    }
    for (std::size_t left = others.size(); left > 0 && reply.peers.size() < announce.peers_wanted;
         --left) {
      std::swap(others[random_.below(static_cast<std::uint32_t>(left))], others[left - 1]);
      reply.peers.push_back(others[left - 1]);
    }
    reply.has_manifest = tracker_has_manifest_;
    reply.incomplete_count = static_cast<std::uint32_t>(announced_.size());
    if (announce.listen_port != 0) {
      announced_[from] = {asker.id(), address_of(from), static_cast<std::uint16_t>(from + 1)};
    }
    asker.core().tracker_replied(tracker, reply, asker.now());
    asker.act();
  });
}

void Network::watch_progress() {
  progress_ = std::make_unique<Progress>(*this);
  progress_->begin();
}

bool Network::all_complete() const {
  return std::all_of(peers_.begin(), peers_.end(), [](const auto& p) {
    return p->spec().source || p->spec().hostile() || p->crashed() || p->complete();
  });
}

}  // namespace firn::sim
