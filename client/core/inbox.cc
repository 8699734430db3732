#include "client/core/inbox.h"

#include <iterator>
#include <utility>
#include <variant>

namespace firn::core {

void Inbox::punish(const Neighbour& n, const char* what) {
  parts_.membership.punish(n.id, proto::GoodbyeReason::kProtocolError, what);
}

void Inbox::take(Neighbour& n, proto::PeerMessage&& message, std::size_t frame_bytes) {
  parts_.downlink.received(frame_bytes, std::holds_alternative<proto::Block>(message));
  n.traffic.received(frame_bytes, parts_.context.now);
  if (!n.contact.greeted() && !std::holds_alternative<proto::Hello>(message) &&
      !std::holds_alternative<proto::Goodbye>(message)) {
    return punish(n, "did not begin with Hello");
  }
  std::visit([&](auto&& body) { on(n, std::move(body)); }, std::move(message));
}

void Inbox::on(Neighbour& n, proto::Hello&& hello) {
  if (!parts_.membership.greeted(n, hello)) return;
  parts_.predecessors.greeted(n);
  parts_.gossip.greeted(n);
  if (!parts_.transfer) return;
  parts_.transfer->trust.greeted(n);
  parts_.transfer->receiving.apply_verdicts();
  parts_.transfer->contributions.greeted(n);
  // A peer without the manifest could not understand a State; it sends one when it can.
  if (!n.contact.has_manifest()) return n.untold.suspend();
  if (!n.untold.begun()) parts_.transfer->granting.greet(n);
}

bool Inbox::apply(Neighbour& n, proto::State&& state) {
  // A neighbour of the last version that says so takes blocks of the authority without a claim.
  if (!parts_.membership.certificate().empty()) state.wants_claims = false;
  parts_.transfer->spread.told(n, state);
  if (!n.apply_state(std::move(state))) {
    punish(n, "sent an impossible State");
    return false;
  }
  parts_.transfer->seeding.told(n);
  parts_.transfer->granting.told(n);
  parts_.transfer->sending.told(n);
  parts_.transfer->origins.told(n);
  return true;
}

void Inbox::on(Neighbour& n, proto::State&& state) {
  if (!parts_.transfer) {
    // We cannot understand it yet; but it shows that its sender has the manifest by now.
    return n.contact.gains_manifest();
  }
  if (!apply(n, std::move(state))) return;
  // Its first State: if it had no manifest before, it has not understood what we have told it.
  if (!n.untold.begun() || !n.contact.has_manifest()) parts_.transfer->granting.greet(n);
  n.contact.gains_manifest();
  parts_.transfer->seeding.part_if_useless(n);
}

void Inbox::on(Neighbour& n, proto::Block&& block) {
  if (!parts_.transfer || !n.untold.begun()) return punish(n, "sent a block that was not granted");
  Receiving& receiving = parts_.transfer->receiving;
  if (!receiving.fits(n, block)) return;
  if (block.state) {
    proto::State state = std::move(*block.state);
    block.state.reset();
    if (!apply(n, std::move(state))) return;
  }
  const PeerKey peer = n.key;
  receiving.take(n, std::move(block));  // and perhaps drops it
  if (const Neighbour* still = parts_.membership.find(peer)) parts_.transfer->granting.came(*still);
}

void Inbox::on(Neighbour& n, trust::Trust::Message&& proof) {
  static constexpr const char* kFaults[] = {
      "asked for a check key of a generation that does not exist",
      "sent a check key for which it does not speak, or that does not fit",
      "asked for the leaves of a generation that does not exist",
      "sent leaves that break the protocol",
  };
  static_assert(std::size(kFaults) == std::variant_size_v<trust::Trust::Message>);
  const PeerId id = n.id;  // a verdict may end the neighbour
  const std::size_t kind = proof.index();
  bool right = std::holds_alternative<proto::LeafReply>(proof);  // late ones are no fault
  if (parts_.transfer) {
    right = parts_.transfer->trust.message(n, std::move(proof));
    parts_.transfer->receiving.apply_verdicts();
  }
  if (!right) parts_.membership.punish(id, proto::GoodbyeReason::kProtocolError, kFaults[kind]);
}

}  // namespace firn::core
