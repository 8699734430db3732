#include "client/core/trust/trust.h"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "client/core/trust/check_review.h"
#include "client/core/trust/judging.h"
#include "client/core/trust/plain_fetch.h"
#include "client/core/trust/proof_serving.h"
#include "client/core/trust/regards.h"
#include "client/core/trust/regime.h"

namespace firn::core::trust {

// So often some rows of a generation turn out wrong before it is fetched plainly: those may lie
// that have told the truth before.
constexpr std::uint32_t kWrongVerdictsMax = 24;

struct Trust::Parts {
  Parts(const World& seen, std::string authority_key, std::vector<Digest> digests)
      : world(seen),
        regime(world, verdicts, regards, std::move(authority_key)),
        plain(world, verdicts, regime, std::move(digests)) {}

  const World world;
  Verdicts verdicts;
  Regards regards{world, verdicts};
  Regime regime;
  CheckReview review{verdicts};
  Judging judging{world, verdicts, regime, review};
  PlainFetch plain;
  ProofServing proofs{world, verdicts, plain};
  std::optional<std::uint32_t> disputed;  // a generation about whose check sums makers disagree
  // What goes on once all verdicts so far have been carried out.
  std::deque<std::function<void()>> waiting;
};

Trust::Trust(const World& world, std::string authority_key, std::vector<Digest> digests,
             bool met_before)
    : parts_(std::make_unique<Parts>(world, std::move(authority_key), std::move(digests))) {
  if (met_before) parts_->regime.met_before();
}

Trust::~Trust() = default;

void Trust::greeted(const Neighbour& n) {
  parts_->regime.greeted(n);
}

void Trust::neighbour_left(const Neighbour& n) {
  parts_->regime.neighbour_left(n);
  parts_->regards.left(n);
  parts_->judging.neighbour_left(n);
  parts_->proofs.neighbour_left(n);
  parts_->plain.neighbour_left(n);
}

Admission Trust::admit(const Neighbour& n, const proto::Block& block) {
  using What = Admission::What;
  Parts& p = *parts_;
  const std::uint32_t g = block.generation;
  const Regards::Facts about = p.regards.of(n);
  const bool shown = block.source_index && p.plain.knows(g);
  if (shown && !p.plain.right(g, *block.source_index, block.payload)) {
    convict(n.id, g);
    return {What::kFalse};
  }
  if (!shown && about.mistrusted) return {What::kIgnore};
  if (p.plain.waits(g)) return {p.plain.just_waits(g) ? What::kEarly : What::kUnwanted};
  if ((block.unproven && p.regime.strict()) || (p.plain.on(g) && !block.source_index))
    return {What::kUnwanted};
  if (shown || (about.speaks && !block.unproven)) return {What::kTake, Standing::kProven};
  if (block.unproven) return {What::kTake, Standing::kUnanswered};
  return {What::kTake, Standing::kAnswered, !block.recoded && p.regime.believes(n)};
}

void Trust::placed(const Neighbour& n, const proto::Block& block, std::uint32_t slot) {
  const std::uint32_t g = block.generation;
  if (block.source_index && parts_->plain.knows(g)) {
    parts_->regards.proved(n.id);
  } else if (block.source_index) {
    parts_->plain.came(g, slot, n.id, block.payload);
  }
  parts_->judging.row_came(g);
}

void Trust::rows_gone(std::uint32_t g, const std::vector<std::uint32_t>* slots) {
  if (!slots) parts_->judging.forget(g);
  parts_->plain.rows_gone(g, slots);
}

void Trust::generation(std::uint32_t g, Outcome outcome) {
  Parts& p = *parts_;
  if (outcome == Outcome::kFalse) {
    p.regime.alarm(kConvictedMemory);
    p.plain.met_false();
    if (!p.judging.doubt(g)) fetch_again(g);
    return;
  }
  p.judging.forget(g);
  p.plain.forget(g);
  if (outcome == Outcome::kGivenUp) return;
  const OpenGeneration* const open = p.world.holdings.find_open(g);
  if (open && outcome == Outcome::kVerified) {
    for (const OpenGeneration::Share& share : open->by_sender) p.regards.proved(share.sender);
  }
  p.review.verified(g, p.world.holdings.blocks_in(g));
}

// Only a peer that speaks for the authority may send sums that nobody has asked for.
bool Trust::message(const Neighbour& n, Message&& message) {
  Parts& p = *parts_;
  if (auto* request = std::get_if<proto::CheckRequest>(&message))
    return p.proofs.asked(n, *request);
  if (auto* request = std::get_if<proto::LeafRequest>(&message)) return p.proofs.asked(n, *request);
  if (auto* sums = std::get_if<proto::CheckReply>(&message)) {
    return p.regards.of(n).speaks ? p.judging.replied(n, std::move(*sums))
                                  : p.judging.peers().replied(n, std::move(*sums));
  }
  leaves_came(n, std::move(std::get<proto::LeafReply>(message)));
  return true;
}

void Trust::proof_made(PeerKey peer, std::variant<proto::CheckReply, proto::LeafReply>&& reply) {
  Parts& p = *parts_;
  const auto* sums = std::get_if<proto::CheckReply>(&reply);
  if (sums && peer == kNoPeer) return reviewed(*sums);
  std::visit([&](auto&& one) { p.proofs.made(peer, std::move(one)); }, std::move(reply));
}

// Each waits for what the one before it has changed: rows that are dropped, neighbours that go.
void Trust::step() {
  Parts& p = *parts_;
  p.regime.step();
  for (const std::uint32_t g : p.judging.take_unanswered()) {
    p.waiting.push_back([this, g] {
      if (parts_->world.holdings.decoding(g)) fetch_again(g);
    });
  }
  p.waiting.push_back([this] {
    Parts& parts = *parts_;
    if (const auto disputed = parts.judging.take_disputed()) fetch_block_by_block(*disputed);
    for (const PeerKey peer : parts.regime.mistrust().take_ended())
      parts.verdicts.push_back(Resume{peer});
    parts.plain.step();
  });
  p.waiting.push_back([this] { parts_->judging.step(); });
}

TimeUs Trust::next_due() const {
  const Parts& p = *parts_;
  return std::min({p.regime.next_due(), p.judging.next_due(), p.plain.next_due()});
}

std::optional<Verdict> Trust::next() {
  Parts& p = *parts_;
  while (p.verdicts.empty() && !p.waiting.empty()) {
    const std::function<void()> goes_on = std::move(p.waiting.front());
    p.waiting.pop_front();
    goes_on();
  }
  if (p.verdicts.empty()) return std::nullopt;
  Verdict first = std::move(p.verdicts.front());
  p.verdicts.pop_front();
  return first;
}

Terms Trust::terms() const {
  const Regime& regime = parts_->regime;
  return {regime.strict(), regime.believing(), regime.trial_from(), regime.convicted()};
}

Asks Trust::asks(const Neighbour& n, std::uint32_t g) {
  PlainFetch& plain = parts_->plain;
  Asks asks;
  asks.nothing = plain.waits(g);
  asks.tell_all = asks.nothing && plain.told_to_wait(g);
  if (plain.on(g)) asks.wanted = plain.wanted_from(n, g);
  if (plain.on(g) && plain.shared(g)) asks.held = plain.held(g);
  return asks;
}

bool Trust::plain(std::uint32_t g) const {
  return parts_->plain.on(g);
}

// --- false data ---

void Trust::mark(std::uint32_t g, const std::vector<std::uint32_t>& slots, Rows as) {
  parts_->verdicts.push_back(Mark{g, slots, as});
  const OpenGeneration& open = *parts_->world.holdings.find_open(g);
  for (const std::uint32_t slot : slots) parts_->regards.proved(open.senders[slot]);
}

// The rows cannot be judged one by one. Those that are proven stay, as nobody else may have them;
// but where all or none are, all go.
void Trust::fetch_again(std::uint32_t g) {
  Parts& p = *parts_;
  const OpenGeneration& open = *p.world.holdings.find_open(g);
  std::vector<std::uint32_t> suspects = open.unproven();
  const std::optional<PeerId> guilty = open.guilty();
  p.verdicts.push_back(
      Notice{Notice::Kind::kWarning,
             "generation " + std::to_string(g) + " decoded to false data; it is fetched again",
             "false data"});
  p.judging.forget(g);
  if (suspects.size() == open.rows) suspects.clear();
  p.verdicts.push_back(Drop{g, std::move(suspects), true});
  p.plain.begin(g);
  if (guilty) convict(*guilty, g);
}

// The makers of g's sums differ, or would let it never complete. Once it is verified, this peer
// knows which makers lied. One generation at a time.
void Trust::fetch_block_by_block(std::uint32_t g) {
  Parts& p = *parts_;
  const Holdings& holdings = p.world.holdings;
  const bool another =
      p.disputed && *p.disputed != g && holdings.find_open(*p.disputed) && p.plain.on(*p.disputed);
  if (another || !holdings.find_open(g)) return;
  p.regime.alarm(kBelieveUnsure);
  p.disputed = g;
  if (!p.plain.on(g)) p.plain.begin(g);
}

// Rows that nobody has proven make way for blocks that prove themselves.
void Trust::leaves_came(const Neighbour& n, proto::LeafReply&& reply) {
  Parts& p = *parts_;
  const std::uint32_t g = reply.generation;
  const PlainFetch::Reply came = p.plain.replied(n, std::move(reply));
  if (came == PlainFetch::Reply::kFalse) return convict(n.id, g);
  if (came == PlainFetch::Reply::kUseless) return;
  const bool on = p.plain.on(g);
  if (on) {
    p.verdicts.push_back(Notice{Notice::Kind::kInfo,
                                "generation " + std::to_string(g) + " is fetched block by block",
                                "block by block"});
  }
  const OpenGeneration* open = p.world.holdings.find_open(g);
  std::vector<PeerId> guilty;
  if (open && !open->decoding) {
    const PlainFetch::Sorted sorted = p.plain.sort(g);
    for (const std::uint32_t slot : sorted.wrong) guilty.push_back(open->senders[slot]);
    if (!sorted.right.empty()) mark(g, sorted.right, Rows::kProven);
    if (!sorted.wrong.empty()) p.verdicts.push_back(Drop{g, sorted.wrong});
    std::vector<std::uint32_t> others = open->unproven();
    std::erase_if(others, [&sorted](std::uint32_t slot) { return sorted.contains(slot); });
    if (on && !others.empty()) p.verdicts.push_back(Drop{g, std::move(others)});
  }
  p.verdicts.push_back(Tell{g});
  for (const PeerId& id : guilty) convict(id, g);
}

// --- judged rows ---

void Trust::rows_judged(std::uint32_t g, const std::vector<std::uint32_t>& right,
                        const std::vector<std::uint32_t>& wrong, bool readable) {
  Judging& judging = parts_->judging;
  const std::vector<std::uint32_t> true_rows = judging.still_there(g, right);
  const std::vector<std::uint32_t> false_rows = judging.still_there(g, wrong);
  const CheckStatement* const stated = judging.stated(g);
  const CheckStatement by = stated ? *stated : CheckStatement{};
  if (!true_rows.empty()) mark(g, true_rows, by.vouched ? Rows::kProven : Rows::kTrusted);
  const bool doubted = judging.judged(g);
  // Rows under decode stay: it will tell, and if it fails they are judged once more.
  const OpenGeneration* open = parts_->world.holdings.find_open(g);
  if (open && open->decoding && !doubted) return;
  if (!readable) {
    if (open) parts_->verdicts.push_back(Drop{g, {}, true});
    return;
  }
  if (!false_rows.empty()) return found_false(g, false_rows, by);
  if (!doubted) return;
  // Rows may have come since; else nothing is wrong with any of them, or the sums are.
  const bool in_vain = !by.vouched && open->rows - open->proven == true_rows.size();
  parts_->waiting.push_back([this, g, in_vain] {
    if (in_vain || !parts_->judging.doubt(g)) fetch_again(g);
  });
}

// Senders that answered for a false row have sent what they knew, or had to know, to be false.
// Where the sums are of a peer that may lie they are convicted once it is shown that it did not.
// Until then they are suspended, and what they have sent is believed no more.
void Trust::found_false(std::uint32_t g, const std::vector<std::uint32_t>& slots,
                        const CheckStatement& by) {
  Parts& p = *parts_;
  PeerChecks& peers = p.judging.peers();
  p.judging.alarm();
  p.regime.alarm(kConvictedMemory);
  const OpenGeneration& open = *p.world.holdings.find_open(g);
  std::vector<PeerId> guilty;
  std::set<PeerId> doubtful;
  for (const std::uint32_t slot : slots) {
    const PeerId& id = open.senders[slot];
    const Neighbour* n = p.world.neighbours.find(id);
    const bool answered = open.standing[slot] == Standing::kAnswered;
    if (answered || (n && p.regime.terms_known(*n, open.arrived[slot]))) doubtful.insert(id);
    if (!answered) continue;
    if (std::find(guilty.begin(), guilty.end(), id) == guilty.end()) guilty.push_back(id);
  }
  if (!by.vouched && peers.count_wrong(g) >= kWrongVerdictsMax) fetch_block_by_block(g);
  p.verdicts.push_back(Drop{g, slots});
  for (const PeerId& id : guilty) {
    p.review.convicted(id, g, by);
    if (by.vouched) ban(id, g);
  }
  if (by.vouched) return;
  for (const PeerId& id : doubtful) {
    p.verdicts.push_back(Doubt{id});
    const Neighbour* const n = p.world.neighbours.find(id);
    if (n) p.regime.mistrust().add(*n, by.maker, peers.truthful(by.maker));
  }
}

// Where the maker of check sums has told false ones, what rests on its word falls. It is banned,
// peers that were convicted by its word alone are welcome again, and rows wait for another's proof.
// Which rows are believed, or proven, by its word nobody has kept; nor which of those that count as
// proven a speaker for the authority has sent.
void Trust::reviewed(const proto::CheckReply& truth) {
  Parts& p = *parts_;
  const CheckReview::Findings findings = p.review.made(truth);
  for (const PeerId& id : findings.truthful) {
    p.judging.peers().found_truthful(id);
    p.regime.found_truthful(id);
  }
  for (const PeerId& id : findings.guilty) convict(id, truth.generation);
  for (const CheckReview::Finding& lie : findings.lies) {
    p.judging.discredit(lie.liar);
    p.regime.found_lying(lie.liar, lie.vouched);
    p.verdicts.push_back(Doubt{std::nullopt, lie.vouched});
    for (const PeerId& id : lie.acquitted) p.regime.acquit(id);
    p.verdicts.push_back(Acquit{lie.acquitted});
    p.verdicts.push_back(Ban{lie.liar, "told false check sums",
                             " of generation " + std::to_string(truth.generation)});
  }
}

void Trust::convict(const PeerId& id, std::uint32_t g) {
  parts_->review.guilty(id);
  ban(id, g);
}

// Rows without a sender were found on the disk.
void Trust::ban(const PeerId& id, std::uint32_t g) {
  Parts& p = *parts_;
  if (id == p.world.context.options.self || id == PeerId{}) return;
  p.judging.alarm();
  p.regime.convict(id);
  p.plain.met_false();
  p.verdicts.push_back(Ban{id, "sent a false block", " of generation " + std::to_string(g)});
}

}  // namespace firn::core::trust
