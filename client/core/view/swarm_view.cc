#include "client/core/view/swarm_view.h"

#include <algorithm>

#include "client/core/base/constants.h"
#include "client/core/parts.h"

namespace firn::core {
namespace {

bool sends_lately(const Neighbour& n, TimeUs now) {
  return n.grants.blocks_received() > 0 && now - n.grants.last_arrival() < Traffic::kLately;
}

bool receives_lately(const Neighbour& n, TimeUs now) {
  return n.pipe.blocks_sent() > 0 && now - n.pipe.last_departure() < Traffic::kLately;
}

// Blocks that came or went lately show what a neighbour is doing.
PeerStatus::State state_of(const Neighbour& n, bool complete, bool stuck, TimeUs now) {
  using State = PeerStatus::State;
  if (!n.contact.greeted()) return State::kGreeting;
  if (!n.holds.heard()) return State::kWaiting;
  if (stuck) return State::kStuck;
  const bool sends = sends_lately(n, now), receives = receives_lately(n, now);
  if (sends && receives) return State::kBoth;
  if (sends) return State::kSends;
  if (receives) return State::kReceives;
  const bool owes = n.grants.stalled(now) && n.holds.total_rank() > 0;
  return !complete && owes ? State::kSilent : State::kIdle;
}

// `rows`: of the whole content, 0 where it is not known. `complete`: this peer lacks nothing.
PeerStatus status_of(const Neighbour& n, std::uint64_t rows, bool complete, bool stuck,
                     TimeUs now) {
  PeerStatus status;
  status.id = n.id;
  status.endpoint = n.contact.endpoint();
  status.agent = n.contact.agent();
  status.rank = n.holds.total_rank();
  status.outgoing = n.contact.outgoing();
  status.authority = n.contact.authority();
  if (rows > 0) {
    status.held = static_cast<double>(n.holds.total_rank()) / static_cast<double>(rows);
  }
  status.bytes_received = n.traffic.bytes_received();
  status.bytes_sent = n.traffic.bytes_sent();
  status.down_rate = n.traffic.down_rate(now);
  status.up_rate = n.traffic.up_rate(now);
  status.blocks_received = n.grants.blocks_received();
  status.blocks_innovative = n.traffic.blocks_innovative();
  status.blocks_sent = n.pipe.blocks_sent();
  status.connected_for = now - n.contact.opened_at();
  status.silent_for = now - n.traffic.heard_at();
  status.state = state_of(n, complete, stuck, now);
  return status;
}

bool owes_blocks(const Neighbours& neighbours, const OpenGeneration& open) {
  return std::ranges::any_of(neighbours, [&](const Neighbour& n) {
    return n.grants.outstanding() > 0 && open.rows_from(n.id, Rows::kAll) > 0;
  });
}

FillingGeneration::State state_of(const Parts& parts, std::uint32_t g, const OpenGeneration& open) {
  using State = FillingGeneration::State;
  if (open.decoding) return State::kDecoding;
  const Transfer& transfer = *parts.transfer;
  const TimeUs still_for = parts.context.now - open.last_growth;
  const bool unproven = transfer.trust.terms().proven_only && open.proven < open.rows;
  if (transfer.trust.plain(g) || (unproven && still_for >= kCheckTimeout))
    return State::kQuarantined;
  if (still_for >= FillingGeneration::kStalledTime) return State::kStalled;
  return owes_blocks(parts.membership.neighbours(), open) ? State::kInFlight : State::kFilling;
}

FillingGeneration filling_of(const Parts& parts, std::uint32_t g, const OpenGeneration& open) {
  FillingGeneration filling;
  filling.number = g;
  filling.rank = open.rows;
  filling.blocks = parts.transfer->generations.holdings().blocks_in(g);
  filling.proven = open.proven;
  filling.state = state_of(parts, g, open);
  filling.still_for = parts.context.now - open.last_growth;
  for (const OpenGeneration::Share& share : open.by_sender)
    if (share.rows > 0) filling.senders.push_back({share.sender, share.rows});
  std::ranges::sort(filling.senders, std::ranges::greater(), &FillingGeneration::Sender::rows);
  return filling;
}

}  // namespace

std::vector<PeerStatus> peers_of(const Parts& parts) {
  std::vector<PeerStatus> peers;
  const std::uint64_t rows =
      parts.transfer ? parts.transfer->generations.holdings().shape().block_count() : 0;
  for (const Neighbour& n : parts.membership.neighbours()) {
    const bool stuck = parts.transfer && parts.transfer->sending.stuck(n);
    peers.push_back(status_of(n, rows, parts.life.complete(), stuck, parts.context.now));
    PeerStatus& status = peers.back();
    if (!parts.transfer) continue;
    if (!receives_lately(n, parts.context.now))
      status.not_sent = parts.transfer->sending.why_not(n);
    if (!sends_lately(n, parts.context.now))
      status.not_received = parts.transfer->granting.why_none_from(n);
  }
  return peers;
}

SwarmView view_of(const Parts& parts) {
  SwarmView view;
  view.peers = peers_of(parts);
  view.bans = parts.membership.book().bans(parts.context.now, SwarmView::kBansMax);
  for (Ban& ban : view.bans) ban.ip = parts.membership.history().ip_of(ban.id);
  if (!parts.transfer) return view;
  const Holdings* const holdings = &parts.transfer->generations.holdings();
  view.generation_size = holdings->generation_size();
  view.last_blocks = holdings->blocks_in(holdings->generation_count() - 1);
  view.verified = holdings->verified();
  view.given_up = holdings->given_up();
  for (const auto& [g, open] : holdings->open()) view.filling.push_back(filling_of(parts, g, open));
  return view;
}

}  // namespace firn::core
