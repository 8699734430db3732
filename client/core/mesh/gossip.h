// Peer exchange: tells neighbours the addresses of others, and takes the addresses that they tell.
//
// A peer that accepts no connections can only call others, and learns from us of peers that came
// after it: so every neighbour that has called us is told soon, but not before it accepts a
// PeerExchange again.
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "client/core/mesh/membership.h"
#include "proto/messages.h"

namespace firn::core {

// Less: messages; more: peers that accept no calls hear of others late.
inline constexpr TimeUs kExchangeInterval = 20 * kSecond;

class Gossip final : public MeshPart {
 public:
  explicit Gossip(const MeshPart& mesh);

  // A neighbour's Hello has come: it is told of the others, and they perhaps of it.
  void greeted(Neighbour& n);
  void heard(const Neighbour& n, const proto::PeerExchange& exchange);
  // Tells all neighbours, or those that have called us, where that is due.
  void step() override;
  TimeUs next_due() override {
    return std::as_const(membership_).neighbours().empty() ? kNever : due(!news_);
  }

  void neighbour_left(const Neighbour& n) override;

 private:
  TimeUs due(bool all) const;
  void share_all(Neighbour& n);
  void share_since(Neighbour& n, TimeUs since);
  bool add(proto::PeerExchange& exchange, const Neighbour& other, const Neighbour& to) const;
  void send(Neighbour& n, proto::PeerExchange&& exchange);

  struct Times {
    TimeUs told_at = 0;      // it was told of others
    TimeUs listen_from = 0;  // before then it is not listened to
  };
  std::map<PeerKey, Times> of_;  // connected neighbours
  // Those that accept connections, in the order in which they came.
  std::vector<std::pair<TimeUs, PeerKey>> listeners_;
  TimeUs told_all_at_;
  TimeUs told_callers_at_;  // at least those that have called us
  bool news_ = false;       // since then a neighbour has come that accepts connections
};

}  // namespace firn::core
