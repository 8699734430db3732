// Blocks that arrive, and the life of a generation: filling, decoding, verified, or found false.
#include <algorithm>
#include <utility>

#include "client/core/policy/constants.h"
#include "client/core/swarm_impl.h"
#include "codec/encode.h"

namespace firn::core {

// A block must fit the content's shape and the promises made; what does not is a broken peer.
bool SwarmCore::Impl::check_block(Neighbour& n, const proto::Block& block) {
  const Shape& shape = holdings->shape();
  const char* wrong = nullptr;
  if (block.generation >= holdings->generation_count()) {
    wrong = "sent a block of a generation that does not exist";
  } else if (block.payload.size() != shape.block_bytes) {
    wrong = "sent a block of wrong length";
  } else if (block.source_index ? *block.source_index >= shape.blocks_in(block.generation)
                                : block.coefficients.size() != shape.blocks_in(block.generation)) {
    wrong = "sent a coding vector of wrong length";
  } else if (!n.book_arrival(block.sequence, shape.block_bytes, now)) {
    wrong = "sent a block that was not granted";
  }
  if (wrong) punish(n.id, proto::GoodbyeReason::kProtocolError, wrong);
  return wrong == nullptr;
}

void SwarmCore::Impl::on(Neighbour& n, proto::Block&& block) {
  if (!holdings || !n.news.begun()) {
    punish(n.id, proto::GoodbyeReason::kProtocolError, "sent a block that was not granted");
    return;
  }
  if (!check_block(n, block)) return;
  if (block.state) {
    proto::State state = std::move(*block.state);
    block.state.reset();
    if (!n.apply_state(std::move(state))) {
      punish(n.id, proto::GoodbyeReason::kProtocolError, "sent an impossible State");
      return;
    }
    if (departure) departure->acknowledged(n.key, n.pipe.acknowledged());
  }
  if (block.recoded) {
    n.traffic.recoded();
    ++blocks_recoded;
  }
  accept_row(n, std::move(block));
}

void SwarmCore::Impl::accept_row(Neighbour& n, proto::Block&& block) {
  const std::uint32_t g = block.generation;
  const auto vector = std::make_shared<const std::vector<std::uint8_t>>(
      block.source_index ? codec::unit_vector(holdings->blocks_in(g), *block.source_index)
                         : std::move(block.coefficients));
  std::optional<std::uint32_t> slot;
  if (rescue.accepts(g, n.id) && !store_finishing && may_open(g)) {
    slot = holdings->insert(g, vector, n.id, !block.recoded, now);
  }
  n.traffic.usefulness().block(slot.has_value(), now);
  if (!slot) {
    ++blocks_redundant;
    // It does not know what we have.
    holdings->verified().contains(g) ? n.news.report_complete(g) : n.news.report(g);
    check_usefulness(n);
    return;
  }
  ++blocks_innovative;
  n.traffic.innovative();
  progressed_at = now;
  rescue.progressed(g, now);
  ++rows_in_memory;
  actions.push_back(StoreRow{g, *slot, vector, n.id, std::move(block.payload)});
  changed(g);
  if (holdings->rank(g) == holdings->blocks_in(g)) start_decode(g);
}

// A peer of which nearly everything is redundant claims what it does not have, or repeats itself.
// Over a while: what was on its way when others filled a generation is redundant at once, hundreds
// of blocks where generations are large and links fast.
void SwarmCore::Impl::check_usefulness(Neighbour& n) {
  if (!n.traffic.usefulness().useless(now)) return;
  notice(Notice::Kind::kInfo, "peer " + n.id.text() + " sends nothing new; disconnected");
  drop(n, proto::GoodbyeReason::kNotUseful, "nothing new");
}

void SwarmCore::Impl::changed(std::uint32_t g) {
  for (Neighbour& n : neighbours) {
    if (n.news.begun()) n.news.report(g);
  }
}

void SwarmCore::Impl::start_decode(std::uint32_t g) {
  const OpenGeneration* open = holdings->find_open(g);
  holdings->set_decoding(g);
  actions.push_back(Decode{g, open->vectors});
}

void SwarmCore::Impl::row_left_memory() {
  if (rows_in_memory > 0) --rows_in_memory;
}

void SwarmCore::Impl::generation_decoded(std::uint32_t g, DecodeOutcome outcome) {
  if (!holdings || g >= holdings->generation_count()) return;
  const OpenGeneration* open = holdings->find_open(g);
  if (!open || !open->decoding) return;
  switch (outcome) {
    case DecodeOutcome::kVerified:
      complete_now(g);
      break;
    case DecodeOutcome::kCorrupt:
      generation_false(g);
      break;
    case DecodeOutcome::kFailed:
      actions.push_back(DropRows{g});
      lose(g);
      break;
  }
}

void SwarmCore::Impl::complete_now(std::uint32_t g) {
  progressed_at = now;
  holdings->set_verified(g);
  for (const std::uint32_t waiting : std::exchange(not_opened, {})) changed(waiting);
  actions.push_back(DropRows{g});
  if (rescue.verified(g)) actions.push_back(CheckEvidence{g});
  for (Neighbour& n : neighbours) {
    if (!n.news.begun()) continue;
    n.news.report_verified(g);
  }
}

void SwarmCore::Impl::generation_false(std::uint32_t g) {
  const OpenGeneration* open = holdings->find_open(g);
  const auto holders = [this](std::uint32_t of) { return holders_of(of); };
  const Rescue::Verdict verdict = rescue.failed(g, open->senders, holders, now);
  notice(Notice::Kind::kWarning,
         "generation " + std::to_string(g) + " decoded to false data; it is fetched again");
  if (verdict.keep_evidence) {
    actions.push_back(KeepEvidence{g, open->vectors, open->senders});
  } else {
    actions.push_back(DropRows{g});
  }
  lose(g);
  // Rows without a sender were found on the disk.
  if (verdict.guilty && *verdict.guilty != options.self && *verdict.guilty != PeerId{}) {
    punish(*verdict.guilty, proto::GoodbyeReason::kBanned,
           "sent a false block of generation " + std::to_string(g));
  }
}

void SwarmCore::Impl::lose(std::uint32_t g) {
  holdings->reset(g);
  lost.insert(g);
  changed(g);
  for (Neighbour& n : neighbours) {
    n.news.report_lost(g);
  }
}

// What else came from a peer that sent a false row is not to be trusted: each such generation would
// turn out false in turn, and be held against it again.
void SwarmCore::Impl::discard_rows_of(const PeerId& id) {
  if (!holdings) return;
  std::vector<std::uint32_t> tainted;
  for (const auto& [g, open] : holdings->open()) {
    if (!open.decoding &&
        std::find(open.senders.begin(), open.senders.end(), id) != open.senders.end()) {
      tainted.push_back(g);
    }
  }
  for (const std::uint32_t g : tainted) {
    actions.push_back(DropRows{g});
    lose(g);
  }
}

void SwarmCore::Impl::evidence_checked(std::uint32_t g, const std::vector<PeerId>& guilty) {
  for (const PeerId& id : guilty) {
    if (id == options.self || id == PeerId{}) continue;
    punish(id, proto::GoodbyeReason::kBanned,
           "sent a false block of generation " + std::to_string(g));
  }
}

std::vector<PeerId> SwarmCore::Impl::holders_of(std::uint32_t g) const {
  std::vector<PeerId> whole, part;
  for (const Neighbour& n : neighbours) {
    if (!n.holds.heard() || !n.holds.complete().contains(g)) continue;
    (n.holds.has_everything() ? whole : part).push_back(n.id);
  }
  whole.insert(whole.end(), part.begin(), part.end());
  return whole;
}

bool SwarmCore::Impl::may_open(std::uint32_t g) {
  const std::uint64_t n = holdings->generation_size();
  const std::uint64_t room = std::max(options.memory_bytes / 4 / (3 * n * n), policy::kOpenMin);
  if (holdings->find_open(g) || holdings->verified().contains(g) || holdings->open().size() < room)
    return true;
  not_opened.insert(g);
  return false;
}

// Rows wait in memory until they are spooled or decoded; grants stop before they fill it.
policy::GrantLimits SwarmCore::Impl::grant_limits() {
  policy::GrantLimits limits;
  // What a complete peer loses again was changed by its owner: nothing is written over it.
  limits.paused = paused || stopped || store_finishing;
  const std::uint64_t k = std::max<std::uint64_t>(holdings->shape().block_bytes, 1);
  const std::uint64_t room = std::max<std::uint64_t>(options.memory_bytes / 4 / k, 8);
  limits.promised = policy::promised_blocks(neighbours, now);
  const std::uint64_t promised = rows_in_memory + limits.promised;
  limits.blocks_max = promised < room ? room - promised : 0;
  if (!down.unlimited()) {
    const auto tokens = static_cast<std::uint64_t>(down.available(now)) / granted_block_bytes();
    limits.blocks_max = std::min(limits.blocks_max, tokens > 0 ? tokens : down.ready(now) ? 1 : 0);
  }
  return limits;
}

}  // namespace firn::core
