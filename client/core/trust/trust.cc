#include "client/core/trust/trust.h"

#include <algorithm>
#include <utility>

#include "client/core/trust/rulings.h"

namespace firn::core::trust {

Trust::Trust(const World& world, std::string authority_key, std::vector<Digest> digests,
             bool met_before)
    : rulings_(std::make_unique<Rulings>(world, std::move(authority_key), std::move(digests))) {
  if (met_before) rulings_->regime.met_before();
}

Trust::~Trust() = default;

void Trust::greeted(const Neighbour& n) {
  rulings_->regime.greeted(n);
}

void Trust::neighbour_left(const Neighbour& n) {
  rulings_->regime.neighbour_left(n);
  rulings_->regards.left(n);
  rulings_->judging.neighbour_left(n);
  rulings_->proofs.neighbour_left(n);
  rulings_->plain.neighbour_left(n);
}

Admission Trust::admit(const Neighbour& n, const proto::Block& block) {
  using What = Admission::What;
  Rulings& r = *rulings_;
  const std::uint32_t g = block.generation;
  const Regards::Facts about = r.regards.of(n);
  const bool shown = block.source_index && r.plain.knows(g);
  if (shown && !r.plain.right(g, *block.source_index, block.payload)) {
    r.blame(n.id, g);
    return {What::kFalse};
  }
  if (!shown && about.mistrusted) return {What::kIgnore};
  if (r.plain.waits(g)) return {r.plain.just_waits(g) ? What::kEarly : What::kUnwanted};
  if ((block.unproven && r.regime.strict()) || (r.plain.on(g) && !block.source_index))
    return {What::kUnwanted};
  if (shown || (about.speaks && !block.unproven)) return {What::kTake, Standing::kProven};
  if (block.unproven) return {What::kTake, Standing::kUnanswered};
  return {What::kTake, Standing::kAnswered, !block.recoded && r.regime.believes(n)};
}

void Trust::placed(const Neighbour& n, const proto::Block& block, std::uint32_t slot) {
  const std::uint32_t g = block.generation;
  if (block.source_index && rulings_->plain.knows(g)) {
    rulings_->regards.proved(n.id);
  } else if (block.source_index) {
    rulings_->plain.came(g, slot, n.id, block.payload);
  }
  rulings_->judging.row_came(g);
}

void Trust::rows_gone(std::uint32_t g, const std::vector<std::uint32_t>* slots) {
  if (!slots) rulings_->judging.forget(g);
  rulings_->plain.rows_gone(g, slots);
}

void Trust::generation(std::uint32_t g, Outcome outcome) {
  Rulings& r = *rulings_;
  if (outcome == Outcome::kFalse) return r.decoded_falsely(g);
  r.judging.forget(g);
  r.plain.forget(g);
  if (outcome == Outcome::kGivenUp) return;
  if (const OpenGeneration* open = r.world.holdings.find_open(g)) {
    for (const OpenGeneration::Share& share : open->by_sender) r.regards.proved(share.sender);
  }
  r.review.verified(g, r.world.holdings.blocks_in(g));
}

// Only a peer that speaks for the authority may send sums that nobody has asked for.
bool Trust::message(const Neighbour& n, Message&& message) {
  Rulings& r = *rulings_;
  if (auto* request = std::get_if<proto::CheckRequest>(&message))
    return r.proofs.asked(n, *request);
  if (auto* request = std::get_if<proto::LeafRequest>(&message)) return r.proofs.asked(n, *request);
  if (auto* sums = std::get_if<proto::CheckReply>(&message)) {
    return r.regards.of(n).speaks ? r.judging.replied(n, std::move(*sums))
                                  : r.judging.peers().replied(n, std::move(*sums));
  }
  r.leaves_came(n, std::move(std::get<proto::LeafReply>(message)));
  return true;
}

void Trust::rows_judged(std::uint32_t g, const std::vector<std::uint32_t>& right,
                        const std::vector<std::uint32_t>& wrong, bool readable) {
  rulings_->rows_judged(g, right, wrong, readable);
}

void Trust::proof_made(PeerKey peer, std::variant<proto::CheckReply, proto::LeafReply>&& reply) {
  Rulings& r = *rulings_;
  const auto* sums = std::get_if<proto::CheckReply>(&reply);
  if (sums && peer == kNoPeer) return r.reviewed(sums->generation, r.review.made(*sums));
  std::visit([&](auto&& one) { r.proofs.made(peer, std::move(one)); }, std::move(reply));
}

void Trust::step() {
  rulings_->step();
}

void Trust::ask() {
  rulings_->judging.step();
}

TimeUs Trust::next_due() const {
  const Rulings& r = *rulings_;
  return std::min({r.regime.next_due(), r.judging.next_due(), r.plain.next_due()});
}

std::optional<Verdict> Trust::next() {
  for (;;) {
    Verdicts& verdicts = rulings_->verdicts;
    if (!verdicts.empty()) {
      Verdict first = std::move(verdicts.front());
      verdicts.pop_front();
      return first;
    }
    if (!rulings_->go_on()) return std::nullopt;
  }
}

Terms Trust::terms() const {
  const Regime& regime = rulings_->regime;
  return {regime.strict(), regime.believing(), regime.trial_from(), regime.convicted()};
}

Asks Trust::asks(const Neighbour& n, std::uint32_t g) {
  PlainFetch& plain = rulings_->plain;
  Asks asks;
  asks.nothing = plain.waits(g);
  asks.tell_all = asks.nothing && plain.told_to_wait(g);
  if (plain.on(g)) asks.wanted = plain.wanted_from(n, g);
  if (plain.on(g) && plain.shared(g)) asks.held = plain.held(g);
  return asks;
}

bool Trust::plain(std::uint32_t g) const {
  return rulings_->plain.on(g);
}

}  // namespace firn::core::trust
