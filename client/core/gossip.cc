#include "client/core/gossip.h"

#include <algorithm>
#include <utility>

#include "client/core/policy/constants.h"
#include "proto/base/address.h"
#include "proto/base/limits.h"

namespace firn::core {

Gossip::Gossip(const Context& context, const Life& life, Membership& membership, Outbox& outbox)
    : context_(context),
      membership_(membership),
      outbox_(outbox),
      told_all_at_(life.began_at()),
      told_callers_at_(life.began_at() + policy::kExchangeFirst - policy::kExchangeInterval / 2) {}

TimeUs Gossip::due(bool all) const {
  const TimeUs listening = told_callers_at_ + policy::kExchangeInterval / 2;
  return all ? std::max(told_all_at_ + policy::kExchangeInterval, listening) : listening;
}

void Gossip::share(Neighbour& n, TimeUs came_since) {
  if (!context_.options.peer_exchange) return;
  of_[n.key].told_at = context_.now;
  proto::PeerExchange exchange;
  for (const Neighbour& other : std::as_const(membership_).neighbours()) {
    if (other.id == n.id || other.contact.listen_port() == 0 || !other.contact.greeted()) continue;
    if (other.contact.greeted_at() < came_since) continue;
    if (exchange.peers.size() == limits::kPeerExchangeMax) break;
    exchange.peers.push_back({other.id, other.contact.ip(), other.contact.listen_port()});
  }
  if (!exchange.peers.empty()) outbox_.send(n, std::move(exchange));
}

void Gossip::greeted(Neighbour& n) {
  if (n.contact.listen_port() != 0) news_ = true;
  share(n, 0);
}

void Gossip::heard(const Neighbour& n, const proto::PeerExchange& exchange) {
  TimeUs& listen_from = of_[n.key].listen_from;
  if (!context_.options.peer_exchange || context_.now < listen_from) return;
  // The first comes with Hello, the second with the round of the others: soon after, perhaps. Those
  // after it are sent as far apart as this, and may take longer or shorter on their way.
  listen_from = listen_from == 0
                    ? context_.now
                    : context_.now + policy::kExchangeInterval / 2 - policy::kExchangeSlack;
  membership_.heard_of(exchange.peers, PeerBook::Origin::kGossip, prefix_of(n.contact.ip()));
}

void Gossip::step() {
  const bool all = context_.now >= due(true);
  if (!all && (!news_ || context_.now < due(false))) return;
  for (Neighbour& n : membership_.neighbours()) {
    if (!n.contact.greeted() || (n.contact.outgoing() && !all)) continue;
    share(n, all ? 0 : of_[n.key].told_at);
  }
  told_callers_at_ = context_.now;
  if (all) told_all_at_ = context_.now;
  news_ = false;
}

}  // namespace firn::core
