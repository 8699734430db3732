#include "client/core/swarm_view.h"

#include <algorithm>

#include "client/core/parts.h"

namespace firn::core {
namespace {

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
  const bool unproven = transfer.trust.strict() && open.proven < open.rows;
  if (transfer.plain.on(g) || (unproven && still_for >= FillingGeneration::kProvenTime))
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

SwarmView view_of(const Parts& parts) {
  SwarmView view;
  const Holdings* const holdings =
      parts.transfer ? &parts.transfer->generations.holdings() : nullptr;
  const std::uint64_t rows = holdings != nullptr ? holdings->total_possible() : 0;
  for (const Neighbour& n : parts.membership.neighbours()) {
    const bool stuck = parts.transfer && parts.transfer->sending.stuck(n);
    view.peers.push_back(status_of(n, rows, parts.life.complete(), stuck, parts.context.now));
  }
  view.bans = parts.membership.book().bans(parts.context.now, SwarmView::kBansMax);
  for (Ban& ban : view.bans) ban.ip = parts.membership.history().ip_of(ban.id);
  if (holdings == nullptr) return view;
  view.generation_size = holdings->generation_size();
  view.last_blocks = holdings->blocks_in(holdings->generation_count() - 1);
  view.verified = holdings->verified();
  view.given_up = holdings->given_up();
  for (const auto& [g, open] : holdings->open()) view.filling.push_back(filling_of(parts, g, open));
  return view;
}

}  // namespace firn::core
