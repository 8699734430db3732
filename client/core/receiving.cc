#include "client/core/receiving.h"

#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "client/core/policy/constants.h"
#include "codec/encode.h"

namespace firn::core {

using proto::GoodbyeReason;

Receiving::Receiving(const Context& context, Life& life, Membership& membership, Outbox& outbox,
                     Intake& intake, trust::Trust& trust, trust::Judging& judging,
                     trust::PlainFetch& plain, trust::CheckReview& review, Generations& generations)
    : context_(context),
      life_(life),
      membership_(membership),
      outbox_(outbox),
      intake_(intake),
      trust_(trust),
      judging_(judging),
      plain_(plain),
      review_(review),
      generations_(generations) {}

void Receiving::resume(const std::vector<std::uint32_t>& full) {
  for (const std::uint32_t g : full) start_decode(g);
}

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
  const bool plain = plain_.on(g);
  const bool shown = block.source_index && plain_.knows(g);
  if (shown && !plain_.right(g, *block.source_index, block.payload)) return blame(n.id, g);
  if (!shown && is_shut(n.regard())) return;
  const bool vouched = n.contact.authority() && !block.unproven;
  const bool answered = !shown && !block.unproven && !vouched;
  const auto vector = std::make_shared<const std::vector<std::uint8_t>>(
      block.source_index
          ? codec::unit_vector(generations_.holdings().blocks_in(g), *block.source_index)
          : std::move(block.coefficients));
  std::optional<std::uint32_t> slot;
  // What a complete peer loses again was changed by its owner: nothing is written over it.
  const bool wanted = !life_.finishing() && !plain_.waits(g) &&
                      !(block.unproven && trust_.strict()) && (!plain || block.source_index);
  if (wanted && generations_.accepts(g)) {
    const Standing standing = shown || vouched ? Standing::kProven
                              : block.unproven ? Standing::kUnanswered
                                               : Standing::kAnswered;
    const bool first_hand = !block.recoded;
    const bool believed = first_hand && answered && trust_.believes(n);
    const Holdings::Origin origin{n.id, first_hand, standing, block.source_index.value_or(kCoded),
                                  believed};
    slot = generations_.insert(g, vector, origin, context_.now);
  }
  if (slot && shown) trust_.proved(n.id);
  if (slot && !shown && block.source_index) plain_.came(g, *slot, n.id, block.payload);
  if (!slot && plain_.just_waits(g)) {
    ++counts_.redundant;
    return n.news.report(g);
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
  intake_.row_taken();
  judging_.row_came(g);
  const Standing standing = generations_.holdings().find_open(g)->standing[slot];
  outbox_.push(StoreRow{g, slot, vector, n.id, standing, std::move(payload)});
  membership_.neighbours().report(g);
  for (const std::uint32_t shut : generations_.shut_after(g)) membership_.neighbours().report(shut);
  if (generations_.full(g)) start_decode(g);
}

void Receiving::redundant(Neighbour& n, std::uint32_t g) {
  ++counts_.redundant;
  // Its sender does not know what we have.
  generations_.holdings().verified().contains(g) ? n.news.report_complete(g) : n.news.report(g);
  if (!n.traffic.usefulness().useless(context_.now)) return;
  outbox_.inform("peer " + n.id.text() + " sends nothing new; disconnected", "useless");
  membership_.drop(n, GoodbyeReason::kNotUseful, "nothing new");
}

// --- decoding ---

void Receiving::start_decode(std::uint32_t g) {
  outbox_.push(Decode{g, generations_.start_decode(g)});
}

void Receiving::decoded(std::uint32_t g, DecodeOutcome outcome) {
  if (!generations_.decoding(g)) return;
  switch (outcome) {
    case DecodeOutcome::kVerified:
      verified(g);
      break;
    case DecodeOutcome::kCorrupt:
      decoded_falsely(g);
      break;
    case DecodeOutcome::kFailed:
      outbox_.push(DropRows{g});
      lose(g);
      break;
  }
}

void Receiving::verified(std::uint32_t g) {
  life_.progress(context_.now);
  judging_.forget(g);
  plain_.forget(g);
  if (const OpenGeneration* open = generations_.holdings().find_open(g)) {
    for (const OpenGeneration::Share& share : open->by_sender) trust_.proved(share.sender);
  }
  for (const std::uint32_t waiting : generations_.verified(g, context_.now))
    membership_.neighbours().report(waiting);
  outbox_.push(DropRows{g});
  review_.verified(g, generations_.holdings().blocks_in(g));
  membership_.neighbours().report_verified(g);
}

void Receiving::decoded_falsely(std::uint32_t g) {
  trust_.alarm(policy::kConvictedMemory);
  plain_.met_false();
  if (!judging_.doubt(g)) fetch_again(g);
}

// The rows cannot be judged one by one. Those that are proven stay: nobody else may have them.
void Receiving::fetch_again(std::uint32_t g) {
  const Generations::Suspects suspects = generations_.suspects(g);
  outbox_.warn("generation " + std::to_string(g) + " decoded to false data; it is fetched again",
               "false data");
  drop_suspects(g, suspects.slots);
  plain_.begin(g);
  if (suspects.guilty) blame(*suspects.guilty, g);
}

void Receiving::drop_suspects(std::uint32_t g, const std::vector<std::uint32_t>& slots) {
  if (slots.size() == generations_.holdings().find_open(g)->rows) {
    outbox_.push(DropRows{g});
    return lose(g);
  }
  judging_.forget(g);
  remove(g, slots);
  report_lost(g);
}

// Rows that nobody has proven make way for blocks that prove themselves.
void Receiving::take(Neighbour& n, proto::LeafReply&& reply) {
  const std::uint32_t g = reply.generation;
  const trust::PlainFetch::Reply came = plain_.replied(n, std::move(reply));
  if (came == trust::PlainFetch::Reply::kFalse) return blame(n.id, g);
  if (came == trust::PlainFetch::Reply::kUseless) return;
  const bool plain = plain_.on(g);
  if (plain) {
    outbox_.inform("generation " + std::to_string(g) + " is fetched block by block",
                   "block by block");
  }
  const OpenGeneration* open = generations_.holdings().find_open(g);
  std::vector<PeerId> guilty;
  if (open && !open->decoding) {
    const trust::PlainFetch::Sorted sorted = plain_.sort(g);
    for (const std::uint32_t slot : sorted.wrong) guilty.push_back(open->senders[slot]);
    if (!sorted.right.empty()) prove(g, sorted.right);
    if (!sorted.wrong.empty()) remove(g, sorted.wrong);
  }
  open = generations_.holdings().find_open(g);
  if (plain && open && !open->decoding && open->proven < open->rows) {
    remove(g, generations_.suspects(g).slots);
  }
  membership_.neighbours().report(g);
  for (const PeerId& id : guilty) blame(id, g);
}

// --- judged rows ---

void Receiving::remove(std::uint32_t g, const std::vector<std::uint32_t>& slots) {
  outbox_.push(DropSlots{g, slots});
  plain_.rows_gone(g, &slots);
  generations_.remove(g, slots);
  for (Neighbour& n : membership_.neighbours()) n.holds.rows_gone(g, &slots);
  membership_.neighbours().report(g);
}

void Receiving::prove(std::uint32_t g, const std::vector<std::uint32_t>& slots) {
  generations_.prove(g, slots);
  outbox_.push(MarkProven{g, slots});
  const OpenGeneration& open = *generations_.holdings().find_open(g);
  for (const std::uint32_t slot : slots) trust_.proved(open.senders[slot]);
}

void Receiving::judged(std::uint32_t g, const std::vector<std::uint32_t>& right,
                       const std::vector<std::uint32_t>& wrong, bool readable) {
  const std::vector<std::uint32_t> true_rows = judging_.still_there(g, right);
  const std::vector<std::uint32_t> false_rows = judging_.still_there(g, wrong);
  const trust::CheckStatement by =
      judging_.stated(g) ? *judging_.stated(g) : trust::CheckStatement{};
  if (!true_rows.empty()) by.vouched ? prove(g, true_rows) : believe(g, true_rows);
  const bool doubted = judging_.judged(g);
  // Rows under decode stay: it will tell, and if it fails they are judged once more.
  if (generations_.decoding(g) && !doubted) return;
  if (!readable) {
    if (!generations_.holdings().find_open(g)) return;
    outbox_.push(DropRows{g});
    return lose(g);
  }
  if (!false_rows.empty()) return convict(g, false_rows, by);
  if (!doubted) return;
  // Rows may have come since; else nothing is wrong with any of them, or the sums are.
  const OpenGeneration& open = *generations_.holdings().find_open(g);
  const bool all_judged = open.rows - open.proven == true_rows.size();
  if ((!by.vouched && all_judged) || !judging_.doubt(g)) fetch_again(g);
}

void Receiving::believe(std::uint32_t g, const std::vector<std::uint32_t>& slots) {
  generations_.believe(g, slots);
  const OpenGeneration& open = *generations_.holdings().find_open(g);
  for (const std::uint32_t slot : slots) trust_.proved(open.senders[slot]);
}

// Senders that answered for a false row have sent what they knew, or had to know, to be false.
// Where the sums are of a peer that may lie they are convicted once it is shown that it did not,
// and left alone for a while.
void Receiving::convict(std::uint32_t g, const std::vector<std::uint32_t>& wrong,
                        const trust::CheckStatement& by) {
  judging_.alarm();
  trust_.alarm(policy::kConvictedMemory);
  const OpenGeneration& open = *generations_.holdings().find_open(g);
  std::vector<PeerId> guilty;
  std::set<PeerId> doubtful;
  for (const std::uint32_t slot : wrong) {
    const PeerId& id = open.senders[slot];
    const Neighbour* n = membership_.neighbours().find(id);
    const bool answered = open.standing[slot] == Standing::kAnswered;
    if (answered || (n && trust_.terms_known(*n, open.arrived[slot]))) doubtful.insert(id);
    if (!answered) continue;
    if (std::find(guilty.begin(), guilty.end(), id) == guilty.end()) guilty.push_back(id);
  }
  if (!by.vouched && judging_.peers().count_wrong(g) >= policy::kWrongVerdictsMax) settle(g);
  remove(g, wrong);
  for (const PeerId& id : guilty) {
    review_.convicted(id, g, by);
    if (by.vouched) ban(id, g);
  }
  if (by.vouched) return;
  for (const PeerId& id : doubtful) doubt(id, by.maker);
}

// What it has sent is believed no more.
void Receiving::doubt(const PeerId& sender, const PeerId& by) {
  generations_.doubt(sender);
  Neighbour* const n = membership_.neighbours().find(sender);
  if (n) trust_.mistrust().add(*n, by, judging_.peers().truthful(by));
}

void Receiving::reviewed(std::uint32_t g, const trust::CheckReview::Findings& findings) {
  for (const PeerId& id : findings.truthful) {
    judging_.peers().found_truthful(id);
    trust_.found_truthful(id);
  }
  for (const PeerId& id : findings.guilty) blame(id, g);
  for (const trust::CheckReview::Finding& lie : findings.lies) discredit(lie);
}

// The maker of check sums has told false ones: what rests on its word falls. It is banned, peers
// that were convicted by its word alone are welcome again, and rows wait for another's proof. Which
// rows are believed, or proven, by its word nobody has kept; nor which of those that count as
// proven a speaker for the authority has sent.
void Receiving::discredit(const trust::CheckReview::Finding& lie) {
  judging_.discredit(lie.liar);
  trust_.found_lying(lie.liar, lie.vouched);
  generations_.doubt_all(lie.vouched);
  if (lie.vouched) outbox_.push(DoubtRows{});
  for (const PeerId& id : lie.acquitted) trust_.acquit(id);
  membership_.acquit(lie.acquitted);
  membership_.punish(lie.liar, GoodbyeReason::kBanned, "told false check sums",
                     policy::kStrikesConvicted, " of generation " + std::to_string(lie.generation));
}

// This peer is guilty, whether or not an authority has lied.
void Receiving::blame(const PeerId& id, std::uint32_t g) {
  review_.guilty(id);
  ban(id, g);
}

// Rows without a sender were found on the disk.
void Receiving::ban(const PeerId& id, std::uint32_t g) {
  if (id == context_.options.self || id == PeerId{}) return;
  judging_.alarm();
  trust_.convict(id);
  plain_.met_false();
  membership_.punish(id, GoodbyeReason::kBanned, "sent a false block", policy::kStrikesConvicted,
                     " of generation " + std::to_string(g));
}

void Receiving::step() {
  for (const std::uint32_t g : judging_.take_unanswered()) {
    if (generations_.decoding(g)) fetch_again(g);
  }
  if (const auto disputed = judging_.take_disputed()) settle(*disputed);
  for (const PeerKey peer : trust_.mistrust().take_ended()) welcome(peer);
}

// It was told to send nothing of what is open, and what it sent all the same was thrown away.
void Receiving::welcome(PeerKey peer) {
  Neighbour* n = membership_.find(peer);
  if (!n || !n->news.begun()) return;
  n->news.report_terms();
  for (const auto& [g, open] : generations_.holdings().open()) n->news.report(g);
  for (const std::uint32_t g : generations_.lost()) n->news.report(g);
  for (const std::uint32_t g : generations_.waiting()) n->news.report(g);
}

// Generation g is fetched plainly, as its makers' sums differ, or let it never complete. Once it is
// verified, this peer knows which makers lied. One generation at a time.
void Receiving::settle(std::uint32_t g) {
  const Holdings& holdings = generations_.holdings();
  const bool another =
      disputed_ && *disputed_ != g && holdings.find_open(*disputed_) && plain_.on(*disputed_);
  if (another || !holdings.find_open(g)) return;
  trust_.alarm(policy::kBelieveUnsure);
  disputed_ = g;
  if (!plain_.on(g)) plain_.begin(g);
}

// --- losses ---

void Receiving::report_lost(std::uint32_t g) {
  membership_.neighbours().report(g);
  for (Neighbour& n : membership_.neighbours()) n.news.report_lost(g);
}

void Receiving::lose(std::uint32_t g) {
  judging_.forget(g);
  plain_.rows_gone(g, nullptr);
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
  outbox_.warn("generation " + std::to_string(g) +
                   (fetch_again ? " is fetched again: " : " is not served any more: ") +
                   error.message(),
               "lost");
  if (fetch_again) {
    if (!life_.complete()) life_.go_back();  // finishing has to wait
    return lose(g);
  }
  if (generations_.holdings().given_up().count() == 0) first_loss_ = error.message();
  plain_.forget(g);
  generations_.give_up(g);
  report_lost(g);
  for (Neighbour& n : membership_.neighbours()) {
    if (n.news.begun()) n.news.report_withdrawn(g);
  }
}

void Receiving::generation_regained(std::uint32_t g) {
  if (!generations_.holdings().given_up().contains(g)) return;
  outbox_.inform("generation " + std::to_string(g) + " is served again", "served again");
  verified(g);
}

}  // namespace firn::core
