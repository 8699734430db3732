#include "client/core/receive/receiving.h"

#include <memory>
#include <utility>

#include "codec/encode.h"

namespace firn::core {

// For a false block its sender had answered for. Half: six of twelve +6 %, back after 30 s [096].
constexpr std::uint32_t kStrikesConvicted = 2;

using proto::GoodbyeReason;

// --- blocks ---

bool Receiving::fits(Neighbour& n, const proto::Block& block) {
  const Holdings& holdings = generations_.holdings();
  const Shape& shape = holdings.shape();
  const char* wrong = nullptr;
  if (block.generation >= holdings.generation_count()) {
    wrong = "sent a block of a generation that does not exist";
  } else if (block.payload.size() != shape.block_bytes) {
    wrong = "sent a block of wrong length";
  } else if (block.source_index ? *block.source_index >= shape.blocks_in(block.generation)
                                : block.coefficients.size() != shape.blocks_in(block.generation)) {
    wrong = "sent a coding vector of wrong length";
  } else if (!n.book_arrival(block.sequence, shape.block_bytes, context_.now)) {
    wrong = "sent a block that was not granted";
  }
  if (wrong) membership_.punish(n.id, GoodbyeReason::kProtocolError, wrong);
  return wrong == nullptr;
}

void Receiving::take(Neighbour& n, proto::Block&& block) {
  const std::uint32_t g = block.generation;
  if (block.recoded) {
    n.traffic.recoded();
    ++counts_.recoded;
  }
  using What = trust::Admission::What;
  const trust::Admission admission = trust_.admit(n, block);
  if (admission.what == What::kFalse || admission.what == What::kIgnore) ++counts_.refused;
  if (admission.what == What::kFalse) return apply_verdicts();
  if (admission.what == What::kIgnore) return;
  const auto vector = std::make_shared<const std::vector<std::uint8_t>>(
      block.source_index
          ? codec::unit_vector(generations_.holdings().blocks_in(g), *block.source_index)
          : std::move(block.coefficients));
  std::optional<std::uint32_t> slot;
  // What a complete peer loses again was changed by its owner: nothing is written over it.
  if (admission.what == What::kTake && !life_.finishing() && generations_.accepts(g)) {
    const Holdings::Origin origin{n.id,
                                  !block.recoded,
                                  admission.standing,
                                  block.source_index.value_or(kCoded),
                                  admission.believed,
                                  n.holds.has_everything()};
    slot = generations_.insert(g, vector, origin, context_.now);
  }
  if (slot) {
    trust_.placed(n, block, *slot);
    apply_verdicts();
  }
  if (admission.what == What::kEarly) {
    ++counts_.redundant;
    return n.untold.report(g);
  }
  n.traffic.usefulness().block(slot.has_value(), context_.now);
  if (slot) {
    innovative(n, g, *slot, vector, std::move(block.payload));
  } else {
    redundant(n, g);
  }
}

void Receiving::innovative(Neighbour& n, std::uint32_t g, std::uint32_t slot, const Vector& vector,
                           proto::Payload payload) {
  ++counts_.innovative;
  n.brought_news();
  life_.progress(context_.now);
  pressure_.row_taken();
  const Standing standing = generations_.holdings().find_open(g)->standing[slot];
  outbox_.push(StoreRow{g, slot, vector, n.id, standing, std::move(payload)});
  membership_.neighbours().report(g);
  for (const std::uint32_t shut : generations_.shut_after(g)) membership_.neighbours().report(shut);
  if (generations_.full(g)) start_decode(g);
}

void Receiving::redundant(Neighbour& n, std::uint32_t g) {
  ++counts_.redundant;
  // Its sender does not know what we have.
  generations_.holdings().verified().contains(g) ? n.untold.report_complete(g) : n.untold.report(g);
  if (!n.traffic.usefulness().useless(context_.now)) return;
  outbox_.inform("peer " + n.id.text() + " sends nothing new; disconnected", "useless");
  membership_.drop(n, GoodbyeReason::kNotUseful, "nothing new");
}

// --- decoding ---

void Receiving::start_decode(std::uint32_t g) {
  outbox_.push(Decode{g, generations_.start_decode(g)});
}

void Receiving::decoded(std::uint32_t g, DecodeOutcome outcome) {
  if (!generations_.holdings().decoding(g)) return;
  switch (outcome) {
    case DecodeOutcome::kVerified:
      verified(g, trust::Outcome::kVerified);
      break;
    case DecodeOutcome::kCorrupt:
      trust_.generation(g, trust::Outcome::kFalse);
      break;
    case DecodeOutcome::kFailed:
      fetch_again(g, {});
      break;
  }
  apply_verdicts();
}

bool Receiving::fetched(std::uint32_t g) {
  if (generations_.holdings().verified().contains(g)) return false;
  verified(g, trust::Outcome::kFetched);
  apply_verdicts();
  return true;
}

void Receiving::verified(std::uint32_t g, trust::Outcome outcome) {
  life_.progress(context_.now);
  trust_.generation(g, outcome);
  for (const std::uint32_t waiting : generations_.verified(g, context_.now))
    membership_.neighbours().report(waiting);
  outbox_.push(DropRows{g});
  membership_.neighbours().report_verified(g);
}

// --- verdicts ---

namespace {

template <typename... Cases>
struct Match : Cases... {
  using Cases::operator()...;
};
template <typename... Cases>
Match(Cases...) -> Match<Cases...>;  // clang 14 does not find it

}  // namespace

void Receiving::step() {
  trust_.step();
  apply_verdicts();
  if (!generations_.holdings().done() || life_.complete() || life_.finishing()) return;
  life_.finish();
  outbox_.push(ContentComplete{});
}

void Receiving::apply_verdicts() {
  const Match match{
      [this](trust::Mark&& rows) {
        generations_.mark(rows.generation, rows.slots, rows.as);
        if (rows.as == Rows::kProven)
          outbox_.push(MarkProven{rows.generation, std::move(rows.slots)});
      },
      [this](trust::Drop&& rows) {
        rows.lost ? fetch_again(rows.generation, rows.slots) : remove(rows.generation, rows.slots);
      },
      [this](trust::Doubt&& doubt) {
        if (doubt.sender) return generations_.doubt(*doubt.sender);
        generations_.doubt_all(doubt.proven_too);
        if (doubt.proven_too) outbox_.push(DoubtRows{});
      },
      [this](trust::Ban&& ban) {
        membership_.punish(ban.peer, GoodbyeReason::kBanned, ban.kind, kStrikesConvicted,
                           ban.detail);
      },
      [this](trust::Acquit&& innocent) { membership_.acquit(innocent.peers); },
      [this](trust::Regarded&& as) {
        Neighbour* const n = membership_.find(as.peer);
        if (!n) return;
        n->regard_as(as.regard, as.amid_polluters);
        if (as.speaks) n->contact.proves_authority();
      },
      [this](trust::Tell&& news) {
        if (news.generation) return membership_.neighbours().report(*news.generation);
        for (Neighbour& n : membership_.neighbours()) n.untold.report_terms();
      },
      [this](trust::Resume&& again) {
        Neighbour* const n = membership_.find(again.peer);
        if (n && n->untold.begun()) ask_again(*n);
      },
      [this](Action&& action) {
        auto* const send = std::get_if<Send>(&action);
        if (!send) return outbox_.push(std::move(action));
        if (Neighbour* n = membership_.find(send->peer)) outbox_.send(*n, std::move(send->message));
      },
  };
  while (auto verdict = trust_.next()) std::visit(match, std::move(*verdict));
}

void Receiving::remove(std::uint32_t g, const std::vector<std::uint32_t>& slots) {
  if (!generations_.holdings().find_open(g)) return;  // a verdict before has closed it
  counts_.refused += slots.size();
  outbox_.push(DropSlots{g, slots});
  trust_.rows_gone(g, &slots);
  generations_.remove(g, slots);
  for (Neighbour& n : membership_.neighbours()) n.holds.rows_gone(g, &slots);
  membership_.neighbours().report(g);
}

void Receiving::fetch_again(std::uint32_t g, const std::vector<std::uint32_t>& slots) {
  if (slots.empty()) {
    outbox_.push(DropRows{g});
    return lose(g);
  }
  remove(g, slots);
  report_lost(g);
}

// It was told to send nothing of what is open, and what it sent all the same was thrown away.
void Receiving::ask_again(Neighbour& n) {
  n.untold.report_terms();
  for (const auto& [g, open] : generations_.holdings().open()) n.untold.report(g);
  for (const std::uint32_t g : generations_.lost()) n.untold.report(g);
  for (const std::uint32_t g : generations_.waiting()) n.untold.report(g);
}

// --- what is wanted ---

// Rows of what is not wanted any more would take the place of others. A generation that is being
// decoded is not held up.
void Receiving::want(GenerationSet wanted) {
  const Holdings& holdings = generations_.holdings();
  const GenerationSet before = holdings.settled();
  for (const std::uint32_t g : generations_.want(std::move(wanted), context_.now))
    membership_.neighbours().report(g);
  std::vector<std::uint32_t> fresh = generations_.unwanted();
  std::erase_if(fresh, [&](std::uint32_t g) { return before.contains(g); });
  for (const std::uint32_t g : fresh) {
    if (holdings.decoding(g)) continue;
    trust_.generation(g, trust::Outcome::kGivenUp);
    if (!holdings.find_open(g)) continue;
    outbox_.push(DropRows{g});
    lose(g);
  }
  apply_verdicts();
  report_unwanted(fresh);
}

void Receiving::report_unwanted(const std::vector<std::uint32_t>& fresh) {
  for (Neighbour& n : membership_.neighbours())
    if (n.untold.begun()) n.untold.report_unwanted(fresh, generations_.holdings().settled());
}

void Receiving::hurry(Urgent urgent) {
  for (const std::uint32_t g : generations_.hurry(std::move(urgent)))
    if (generations_.holdings().wants(g)) membership_.neighbours().report(g);
  for (Neighbour& n : membership_.neighbours()) n.untold.report_terms();
}

// --- losses ---

// Verified data and what is nearly whole go first: a disk that has room for the content and little
// more then suffices.
bool Receiving::make_room(const Error& full) {
  const std::optional<std::uint32_t> g = generations_.close_one(context_.now);
  if (!g) return false;
  if (!std::exchange(told_of_room_, true))
    outbox_.warn(
        "blocks of unfinished generations are deleted to make room, and fetched again later: " +
            full.message(),
        "room");
  fetch_again(*g, {});
  return true;
}

void Receiving::report_lost(std::uint32_t g) {
  membership_.neighbours().report(g);
  for (Neighbour& n : membership_.neighbours()) n.untold.report_lost(g);
}

void Receiving::lose(std::uint32_t g) {
  trust_.rows_gone(g, nullptr);
  generations_.lose(g);
  for (Neighbour& n : membership_.neighbours()) n.holds.rows_gone(g, nullptr);
  report_lost(g);
}

// Each generation with such a row would turn out false in turn.
void Receiving::banned(const PeerId& id) {
  for (const Generations::Slots& rows : generations_.unproven_rows_of(id)) {
    remove(rows.generation, rows.slots);
  }
}

void Receiving::generation_lost(std::uint32_t g, const Error& error, bool fetch_again) {
  if (!generations_.holdings().verified().contains(g)) return;
  if (fetch_again) {
    lose(g);
    if (generations_.holdings().wants(g)) {
      outbox_.warn("generation " + std::to_string(g) + " is fetched again: " + error.message(),
                   "lost");
      return life_.go_on();  // completion has to wait
    }
    return report_unwanted({g});
  }
  outbox_.warn("generation " + std::to_string(g) + " is not served any more: " + error.message(),
               "lost");
  if (generations_.holdings().given_up().count() == 0) first_loss_ = error.message();
  trust_.generation(g, trust::Outcome::kGivenUp);
  generations_.give_up(g);
  report_lost(g);
  for (Neighbour& n : membership_.neighbours()) {
    if (n.untold.begun()) n.untold.report_withdrawn(g);
  }
}

void Receiving::generation_regained(std::uint32_t g) {
  if (!generations_.holdings().given_up().contains(g)) return;
  outbox_.inform("generation " + std::to_string(g) + " is served again", "served again");
  verified(g, trust::Outcome::kFetched);
  apply_verdicts();
}

}  // namespace firn::core
