#include "client/core/trust/trust.h"

#include <algorithm>
#include <utility>

#include "client/core/trust/proof_serving.h"
#include "client/core/trust/rulings.h"

namespace firn::core::trust {

struct Trust::State {
  State(const World& seen, std::string authority_key, std::vector<Digest> digests)
      : world(seen),
        regards(world, verdicts),
        regime(world, verdicts, regards, std::move(authority_key)),
        review(verdicts),
        judging(world, verdicts, regime, review),
        plain(world, verdicts, regime, std::move(digests)),
        proofs(world, verdicts, plain),
        rulings(world, {verdicts, regards, regime, review, judging, plain}) {}

  const World world;
  Verdicts verdicts;
  Regards regards;
  Regime regime;
  CheckReview review;
  Judging judging;
  PlainFetch plain;
  ProofServing proofs;
  Rulings rulings;

  bool on(const Neighbour& n, const proto::CheckRequest& request) {
    return proofs.asked(n, request);
  }
  bool on(const Neighbour& n, const proto::LeafRequest& request) {
    return proofs.asked(n, request);
  }
  // Only a peer that speaks for the authority may send what nobody has asked for.
  bool on(const Neighbour& n, proto::CheckReply&& reply) {
    return regards.of(n).speaks ? judging.replied(n, std::move(reply))
                                : judging.peers().replied(n, std::move(reply));
  }
  bool on(const Neighbour& n, proto::LeafReply&& reply) {
    rulings.leaves_came(n, std::move(reply));
    return true;
  }
};

Trust::Trust(const World& world, std::string authority_key, std::vector<Digest> digests,
             bool met_before)
    : state_(std::make_unique<State>(world, std::move(authority_key), std::move(digests))) {
  if (met_before) state_->regime.met_before();
}

Trust::~Trust() = default;

void Trust::greeted(const Neighbour& n) {
  state_->regime.greeted(n);
}

void Trust::leaves(const Neighbour& n) {
  state_->regime.leaves(n);
  state_->regards.left(n);
  state_->judging.leaves(n);
  state_->proofs.leaves(n);
  state_->plain.leaves(n);
}

Admission Trust::admit(const Neighbour& n, const proto::Block& block) {
  using What = Admission::What;
  State& s = *state_;
  const std::uint32_t g = block.generation;
  const Regards::Facts about = s.regards.of(n);
  const bool shown = block.source_index && s.plain.knows(g);
  if (shown && !s.plain.right(g, *block.source_index, block.payload)) {
    s.rulings.blame(n.id, g);
    return {What::kFalse};
  }
  if (!shown && about.mistrusted) return {What::kIgnore};
  if (s.plain.waits(g)) return {s.plain.just_waits(g) ? What::kEarly : What::kUnwanted};
  if ((block.unproven && s.regime.strict()) || (s.plain.on(g) && !block.source_index))
    return {What::kUnwanted};
  if (shown || (about.speaks && !block.unproven)) return {What::kTake, Standing::kProven};
  if (block.unproven) return {What::kTake, Standing::kUnanswered};
  return {What::kTake, Standing::kAnswered, !block.recoded && s.regime.believes(n)};
}

void Trust::placed(const Neighbour& n, const proto::Block& block, std::uint32_t slot) {
  const std::uint32_t g = block.generation;
  if (block.source_index && state_->plain.knows(g)) {
    state_->regards.proved(n.id);
  } else if (block.source_index) {
    state_->plain.came(g, slot, n.id, block.payload);
  }
  state_->judging.row_came(g);
}

void Trust::rows_gone(std::uint32_t g, const std::vector<std::uint32_t>* slots) {
  if (!slots) state_->judging.forget(g);
  state_->plain.rows_gone(g, slots);
}

void Trust::generation(std::uint32_t g, Outcome outcome) {
  State& s = *state_;
  if (outcome == Outcome::kFalse) return s.rulings.decoded_falsely(g);
  s.judging.forget(g);
  s.plain.forget(g);
  if (outcome == Outcome::kGivenUp) return;
  if (const OpenGeneration* open = s.world.holdings.find_open(g)) {
    for (const OpenGeneration::Share& share : open->by_sender) s.regards.proved(share.sender);
  }
  s.review.verified(g, s.world.holdings.blocks_in(g));
}

bool Trust::message(const Neighbour& n, Message&& message) {
  return std::visit([&](auto&& body) { return state_->on(n, std::move(body)); },
                    std::move(message));
}

void Trust::answered(const RowsJudged& answer) {
  state_->rulings.judged(answer.generation, answer.right, answer.wrong, answer.readable);
}

void Trust::answered(ProofMade&& answer) {
  State& s = *state_;
  if (auto* leaves = std::get_if<proto::LeafReply>(&answer.reply))
    return s.proofs.made(answer.peer, std::move(*leaves));
  auto& sums = std::get<proto::CheckReply>(answer.reply);
  if (answer.peer != kNoPeer) return s.proofs.made(answer.peer, std::move(sums));
  s.rulings.reviewed(sums.generation, s.review.made(sums));
}

void Trust::step() {
  state_->rulings.step();
}

void Trust::ask() {
  state_->judging.step();
}

TimeUs Trust::next_due() const {
  const State& s = *state_;
  return std::min({s.regime.next_due(), s.judging.next_due(), s.plain.next_due()});
}

std::optional<Verdict> Trust::next() {
  for (;;) {
    if (std::optional<Verdict> verdict = state_->verdicts.take()) return verdict;
    if (!state_->rulings.go_on()) return std::nullopt;
  }
}

Terms Trust::terms() const {
  const Regime& regime = state_->regime;
  return {regime.strict(), regime.believing(), regime.trial_from(), regime.convicted()};
}

Asks Trust::asks(const Neighbour& n, std::uint32_t g) {
  PlainFetch& plain = state_->plain;
  Asks asks;
  asks.nothing = plain.waits(g);
  asks.all_told = !asks.nothing || !plain.told_to_wait(g);
  asks.plain = plain.on(g);
  if (!asks.plain) return asks;
  asks.wanted = plain.wanted_from(n, g);
  asks.shared = plain.shared(g);
  if (asks.shared) asks.held = plain.held(g);
  return asks;
}

bool Trust::plain(std::uint32_t g) const {
  return state_->plain.on(g);
}

}  // namespace firn::core::trust
