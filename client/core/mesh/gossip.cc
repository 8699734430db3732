#include "client/core/mesh/gossip.h"

#include <algorithm>

#include "proto/base/limits.h"

namespace firn::core {

// The first exchange with neighbours that have called us, if there is a peer to tell of; later ones
// come after half of the interval if a peer has come since. Without a first one, peers that accept
// no connections do not hear of all others for 20 s [015]. Half: a source that leaves +6 % [096].
constexpr TimeUs kExchangeFirst = 1 * kSecond;
constexpr TimeUs kExchangeSlack = 1 * kSecond;  // an exchange may come so much early

Gossip::Gossip(const MeshPart& mesh)
    : MeshPart(mesh),
      told_all_at_(life_.began_at()),
      told_callers_at_(life_.began_at() + kExchangeFirst - kExchangeInterval / 2) {}

TimeUs Gossip::due(bool all) const {
  const TimeUs listening = told_callers_at_ + kExchangeInterval / 2;
  return all ? std::max(told_all_at_ + kExchangeInterval, listening) : listening;
}

bool Gossip::add(proto::PeerExchange& exchange, const Neighbour& other, const Neighbour& to) const {
  if (other.key == to.key) return true;
  if (exchange.peers.size() == limits::kPeerExchangeMax) return false;
  exchange.peers.push_back({other.id, other.contact.ip(), other.contact.listen_port()});
  return true;
}

void Gossip::send(Neighbour& n, proto::PeerExchange&& exchange) {
  of_[n.key].told_at = context_.now;
  if (!exchange.peers.empty()) outbox_.send(n, std::move(exchange));
}

void Gossip::share_all(Neighbour& n) {
  if (!context_.options.peer_exchange) return;
  proto::PeerExchange exchange;
  for (const Neighbour& other : std::as_const(membership_).neighbours()) {
    if (other.contact.listen_port() != 0 && !add(exchange, other, n)) break;
  }
  send(n, std::move(exchange));
}

void Gossip::share_since(Neighbour& n, TimeUs since) {
  if (!context_.options.peer_exchange) return;
  std::vector<PeerKey> came;
  for (auto it = std::lower_bound(listeners_.begin(), listeners_.end(), std::pair{since, kNoPeer});
       it != listeners_.end(); ++it) {
    came.push_back(it->second);
  }
  std::sort(came.begin(), came.end());
  proto::PeerExchange exchange;
  for (const PeerKey key : came) {
    if (!add(exchange, *membership_.find(key), n)) break;
  }
  send(n, std::move(exchange));
}

void Gossip::neighbour_left(const Neighbour& n) {
  of_.erase(n.key);
  std::erase_if(listeners_, [&n](const auto& one) { return one.second == n.key; });
}

void Gossip::greeted(Neighbour& n) {
  if (n.contact.listen_port() != 0) {
    listeners_.emplace_back(context_.now, n.key);
    news_ = true;
  }
  share_all(n);
}

void Gossip::heard(const Neighbour& n, const proto::PeerExchange& exchange) {
  TimeUs& listen_from = of_[n.key].listen_from;
  if (!context_.options.peer_exchange || context_.now < listen_from) return;
  // The first comes with Hello, the second with the round of the others: soon after, perhaps. Those
  // after it are sent as far apart as this, and may take longer or shorter on their way.
  listen_from =
      listen_from == 0 ? context_.now : context_.now + kExchangeInterval / 2 - kExchangeSlack;
  membership_.heard_of(exchange.peers, n);
}

void Gossip::step() {
  const bool all = context_.now >= due(true);
  if (!all && (!news_ || context_.now < due(false))) return;
  for (Neighbour& n : membership_.neighbours()) {
    if (!n.contact.greeted() || (n.contact.outgoing() && !all)) continue;
    all ? share_all(n) : share_since(n, of_[n.key].told_at);
  }
  told_callers_at_ = context_.now;
  if (all) told_all_at_ = context_.now;
  news_ = false;
}

}  // namespace firn::core
