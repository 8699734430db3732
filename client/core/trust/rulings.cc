#include "client/core/trust/rulings.h"

#include <algorithm>
#include <set>
#include <string>
#include <utility>

#include "client/core/base/constants.h"

namespace firn::core::trust {

Rulings::Rulings(const World& seen, std::string authority_key, std::vector<Digest> digests)
    : world(seen),
      regards(world, verdicts),
      regime(world, verdicts, regards, std::move(authority_key)),
      review(verdicts),
      judging(world, verdicts, regime, review),
      plain(world, verdicts, regime, std::move(digests)),
      proofs(world, verdicts, plain) {}

bool Rulings::go_on() {
  if (waiting_.empty()) return false;
  const std::function<void()> rest = std::move(waiting_.front());
  waiting_.pop_front();
  rest();
  return true;
}

void Rulings::mark(std::uint32_t g, const std::vector<std::uint32_t>& slots, Rows as) {
  verdicts.push_back(Mark{g, slots, as});
  const OpenGeneration& open = *world.holdings.find_open(g);
  for (const std::uint32_t slot : slots) regards.proved(open.senders[slot]);
}

// --- false data ---

void Rulings::decoded_falsely(std::uint32_t g) {
  regime.alarm(policy::kConvictedMemory);
  plain.met_false();
  if (!judging.doubt(g)) fetch_again(g);
}

// The rows cannot be judged one by one. Those that are proven stay, as nobody else may have them;
// but where all or none are, all go.
void Rulings::fetch_again(std::uint32_t g) {
  const OpenGeneration& open = *world.holdings.find_open(g);
  std::vector<std::uint32_t> suspects = open.unproven();
  const std::optional<PeerId> guilty = open.guilty();
  verdicts.push_back(
      Notice{Notice::Kind::kWarning,
             "generation " + std::to_string(g) + " decoded to false data; it is fetched again",
             "false data"});
  judging.forget(g);
  if (suspects.size() == open.rows) suspects.clear();
  verdicts.push_back(Drop{g, std::move(suspects), true});
  plain.begin(g);
  if (guilty) blame(*guilty, g);
}

// Rows that nobody has proven make way for blocks that prove themselves.
void Rulings::leaves_came(const Neighbour& n, proto::LeafReply&& reply) {
  const std::uint32_t g = reply.generation;
  const PlainFetch::Reply came = plain.replied(n, std::move(reply));
  if (came == PlainFetch::Reply::kFalse) return blame(n.id, g);
  if (came == PlainFetch::Reply::kUseless) return;
  const bool on = plain.on(g);
  if (on) {
    verdicts.push_back(Notice{Notice::Kind::kInfo,
                              "generation " + std::to_string(g) + " is fetched block by block",
                              "block by block"});
  }
  const OpenGeneration* open = world.holdings.find_open(g);
  std::vector<PeerId> guilty;
  if (open && !open->decoding) {
    const PlainFetch::Sorted sorted = plain.sort(g);
    for (const std::uint32_t slot : sorted.wrong) guilty.push_back(open->senders[slot]);
    if (!sorted.right.empty()) mark(g, sorted.right, Rows::kProven);
    if (!sorted.wrong.empty()) verdicts.push_back(Drop{g, sorted.wrong});
    std::vector<std::uint32_t> others = open->unproven();
    std::erase_if(others, [&sorted](std::uint32_t slot) { return sorted.contains(slot); });
    if (on && !others.empty()) verdicts.push_back(Drop{g, std::move(others)});
  }
  verdicts.push_back(Tell{g});
  for (const PeerId& id : guilty) blame(id, g);
}

// --- judged rows ---

void Rulings::rows_judged(std::uint32_t g, const std::vector<std::uint32_t>& right,
                          const std::vector<std::uint32_t>& wrong, bool readable) {
  const std::vector<std::uint32_t> true_rows = judging.still_there(g, right);
  const std::vector<std::uint32_t> false_rows = judging.still_there(g, wrong);
  const CheckStatement* const stated = judging.stated(g);
  const CheckStatement by = stated ? *stated : CheckStatement{};
  if (!true_rows.empty()) mark(g, true_rows, by.vouched ? Rows::kProven : Rows::kTrusted);
  const bool doubted = judging.judged(g);
  // Rows under decode stay: it will tell, and if it fails they are judged once more.
  if (world.holdings.decoding(g) && !doubted) return;
  const OpenGeneration* open = world.holdings.find_open(g);
  if (!readable) {
    if (open) verdicts.push_back(Drop{g, {}, true});
    return;
  }
  if (!false_rows.empty()) return convict(g, false_rows, by);
  if (!doubted) return;
  // Rows may have come since; else nothing is wrong with any of them, or the sums are.
  const bool in_vain = !by.vouched && open->rows - open->proven == true_rows.size();
  then([this, g, in_vain] {
    if (in_vain || !judging.doubt(g)) fetch_again(g);
  });
}

// Senders that answered for a false row have sent what they knew, or had to know, to be false.
// Where the sums are of a peer that may lie they are convicted once it is shown that it did not,
// and left alone for a while.
void Rulings::convict(std::uint32_t g, const std::vector<std::uint32_t>& wrong,
                      const CheckStatement& by) {
  judging.alarm();
  regime.alarm(policy::kConvictedMemory);
  const OpenGeneration& open = *world.holdings.find_open(g);
  std::vector<PeerId> guilty;
  std::set<PeerId> doubtful;
  for (const std::uint32_t slot : wrong) {
    const PeerId& id = open.senders[slot];
    const Neighbour* n = world.neighbours.find(id);
    const bool answered = open.standing[slot] == Standing::kAnswered;
    if (answered || (n && regime.terms_known(*n, open.arrived[slot]))) doubtful.insert(id);
    if (!answered) continue;
    if (std::find(guilty.begin(), guilty.end(), id) == guilty.end()) guilty.push_back(id);
  }
  if (!by.vouched && judging.peers().count_wrong(g) >= policy::kWrongVerdictsMax) settle(g);
  verdicts.push_back(Drop{g, wrong});
  for (const PeerId& id : guilty) {
    review.convicted(id, g, by);
    if (by.vouched) ban(id, g);
  }
  if (by.vouched) return;
  for (const PeerId& id : doubtful) doubt(id, by.maker);
}

// What it has sent is believed no more.
void Rulings::doubt(const PeerId& sender, const PeerId& by) {
  verdicts.push_back(Doubt{sender});
  const Neighbour* const n = world.neighbours.find(sender);
  if (n) regime.mistrust().add(*n, by, judging.peers().truthful(by));
}

void Rulings::reviewed(std::uint32_t g, const CheckReview::Findings& findings) {
  for (const PeerId& id : findings.truthful) {
    judging.peers().found_truthful(id);
    regime.found_truthful(id);
  }
  for (const PeerId& id : findings.guilty) blame(id, g);
  for (const CheckReview::Finding& lie : findings.lies) discredit(lie);
}

// The maker of check sums has told false ones: what rests on its word falls. It is banned, peers
// that were convicted by its word alone are welcome again, and rows wait for another's proof. Which
// rows are believed, or proven, by its word nobody has kept; nor which of those that count as
// proven a speaker for the authority has sent.
void Rulings::discredit(const CheckReview::Finding& lie) {
  judging.discredit(lie.liar);
  regime.found_lying(lie.liar, lie.vouched);
  verdicts.push_back(Doubt{std::nullopt, lie.vouched});
  for (const PeerId& id : lie.acquitted) regime.acquit(id);
  verdicts.push_back(Acquit{lie.acquitted});
  verdicts.push_back(
      Ban{lie.liar, "told false check sums", " of generation " + std::to_string(lie.generation)});
}

void Rulings::blame(const PeerId& id, std::uint32_t g) {
  review.guilty(id);
  ban(id, g);
}

// Rows without a sender were found on the disk.
void Rulings::ban(const PeerId& id, std::uint32_t g) {
  if (id == world.context.options.self || id == PeerId{}) return;
  judging.alarm();
  regime.convict(id);
  plain.met_false();
  verdicts.push_back(Ban{id, "sent a false block", " of generation " + std::to_string(g)});
}

// --- what becomes due ---

// Each waits for what the one before it has changed: rows that are dropped, neighbours that go.
void Rulings::step() {
  regime.step();
  for (const std::uint32_t g : judging.take_unanswered()) {
    then([this, g] {
      if (world.holdings.decoding(g)) fetch_again(g);
    });
  }
  then([this] {
    if (const auto disputed = judging.take_disputed()) settle(*disputed);
    for (const PeerKey peer : regime.mistrust().take_ended()) verdicts.push_back(Resume{peer});
    plain.step();
  });
}

// Generation g is fetched plainly, as its makers' sums differ, or let it never complete. Once it is
// verified, this peer knows which makers lied. One generation at a time.
void Rulings::settle(std::uint32_t g) {
  const bool another =
      disputed_ && *disputed_ != g && world.holdings.find_open(*disputed_) && plain.on(*disputed_);
  if (another || !world.holdings.find_open(g)) return;
  regime.alarm(policy::kBelieveUnsure);
  disputed_ = g;
  if (!plain.on(g)) plain.begin(g);
}

}  // namespace firn::core::trust
