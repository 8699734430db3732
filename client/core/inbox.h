// Hands each message of a neighbour to the parts that it concerns.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "client/core/parts.h"
#include "proto/messages.h"

namespace firn::core {

class Inbox {
 public:
  explicit Inbox(Parts& parts) : parts_(parts) {}

  // Handles a validated message; `frame_bytes`: bytes of its frame. May drop its sender.
  void take(Neighbour& n, proto::PeerMessage&& message, std::size_t frame_bytes);

 private:
  void on(Neighbour& n, proto::Hello&& hello);
  void on(Neighbour& n, proto::State&& state);
  void on(Neighbour& n, proto::Block&& block);
  void on(Neighbour& n, proto::ManifestRequest&& request) { parts_.serving.asked(n, request); }
  void on(Neighbour& n, proto::ManifestPart&& part) { parts_.fetch.part(n, std::move(part)); }
  void on(Neighbour& n, proto::PeerExchange&& exchange) { parts_.gossip.heard(n, exchange); }
  void on(Neighbour& n, trust::Trust::Message&& proof);
  void on(Neighbour& n, proto::PrivateProof&&) {
    punish(n, "sent a proof of a private content where it belongs to none");
  }
  void on(Neighbour& n, proto::Goodbye&& goodbye) { parts_.membership.said_goodbye(n, goodbye); }
  void on(Neighbour&, proto::PassedOver&& unread) {
    parts_.context.epoch = std::max(parts_.context.epoch, unread.epoch);
  }
  bool apply(Neighbour& n, proto::State&& state);
  void punish(const Neighbour& n, const char* what);

  Parts& parts_;
};

}  // namespace firn::core
