#include "client/core/trust/judging.h"

#include <algorithm>

#include "client/core/base/constants.h"
#include "client/core/trust/proof_serving.h"
#include "codec/check_key.h"
#include "proto/base/limits.h"

namespace firn::core::trust {
namespace {

constexpr TimeUs kPeerSampleTrial = 500 * kMillisecond;
constexpr TimeUs kJudgingReview = 20 * kMillisecond;  // of all open generations; less costs CPU
// Sums are asked for ahead of need of as many generations as make this part of what the source
// sends, for all neighbours together; of all once a false row has been met [041].
constexpr double kCheckShareMax = 0.01;

// A copy of this part of a message, which is wiped.
codec::SecretVector<std::uint8_t> taken(std::vector<std::uint8_t>& part) {
  codec::SecretVector<std::uint8_t> secret(part.begin(), part.end());
  codec::wipe(part.data(), part.size());
  return secret;
}

}  // namespace

Judging::Judging(const World& world, Verdicts& verdicts, const Regime& regime, CheckReview& review)
    : world_(world), verdicts_(verdicts), regime_(regime), peers_(world, verdicts, review) {}

// --- asking ---

const Neighbour* Judging::authority_for(std::uint32_t g) const {
  const Neighbour* first = nullptr;
  for (const PeerKey key : regime_.authorities()) {
    const Neighbour* n = world_.neighbours.find(key);
    if (n->holds.complete().contains(g) && (!first || key < first->key)) first = n;
  }
  return first;
}

bool Judging::ask(std::uint32_t g) {
  const Neighbour* authority = world_.mesh.small_mesh() ? authority_for(g) : nullptr;
  if (!authority) return false;
  asked_[g] = Asked{authority->key, world_.context.now + kCheckTimeout};
  requests_[authority->key].push_back(g);
  return true;
}

// In a large mesh relays mix what they cannot judge, so that the next rows would be as false. And a
// peer that has sent all of them is guilty without any sums.
bool Judging::ask_peers(std::uint32_t g) {
  const auto& senders = world_.holdings.find_open(g)->by_sender;
  const auto doubtful =
      std::count_if(senders.begin(), senders.end(),
                    [](const OpenGeneration::Share& share) { return share.proven < share.rows; });
  if (doubtful <= 1) return false;
  return regime_.unguided() && peers_.doubt(g);
}

void Judging::alarm() {
  if (!std::exchange(alarmed_, true)) next_review_ = world_.context.now;
}

bool Judging::doubt(std::uint32_t g) {
  alarm();
  const OpenGeneration& open = *world_.holdings.find_open(g);
  if (open.proven == open.rows) return false;  // a key, the digest or the disk is wrong
  const auto known = sums_.find(g);
  if (known != sums_.end()) {
    judge_unproven(g, known->second);
  } else if (!asked_.contains(g) && !ask(g) && !ask_peers(g)) {
    return false;
  }
  doubted_.insert(g);
  return true;
}

void Judging::step() {
  look_ahead();
  if (regime_.unguided() && next_sample_ <= world_.context.now) sample_by_peers();
  for (auto& [peer, generations] : requests_) {
    for (std::size_t at = 0; at < generations.size(); at += limits::kCheckGenerationsMax) {
      const std::size_t end = std::min(generations.size(), at + limits::kCheckGenerationsMax);
      const auto from = generations.begin();
      const std::vector<std::uint32_t> some(from + static_cast<std::ptrdiff_t>(at),
                                            from + static_cast<std::ptrdiff_t>(end));
      verdicts_.push_back(Send{peer, proto::CheckRequest{some}});
    }
  }
  requests_.clear();
}

// --- answers ---

// A key counts even if its sums come too late: it is told once.
bool Judging::replied(const Neighbour& n, proto::CheckReply&& reply) {
  Secret told = taken(reply.key), sums = taken(reply.sums);
  if (!told.empty()) keys_told_[n.key] = std::move(told);
  const std::uint32_t g = reply.generation;
  const auto asked = asked_.find(g);
  // It came too late, or answers an earlier request, which was given up.
  if (asked == asked_.end() || asked->second.from != n.key) return true;
  const std::uint32_t blocks = world_.holdings.blocks_in(g);
  const std::size_t tag = sums.size() / blocks;
  const auto key = keys_told_.find(n.key);
  if (sums.empty()) {
    // Where nothing is in doubt a new request waits as long as for an answer that never came.
    if (doubted_.contains(g)) asked->second.due = world_.context.now;
    return true;
  }
  if (key == keys_told_.end() || sums.size() % blocks != 0 ||
      !codec::CheckKey::valid_tag_bytes(tag))
    return false;
  asked_.erase(asked);
  sums_[g] = {n.id, key->second, std::move(sums)};
  judge_unproven(g, sums_[g]);
  return true;
}

void Judging::judge_unproven(std::uint32_t g, const CheckStatement& known) {
  if (const OpenGeneration* open = world_.holdings.find_open(g)) judge(g, known, open->unproven());
}

void Judging::judge(std::uint32_t g, const CheckStatement& by,
                    const std::vector<std::uint32_t>& slots) {
  const OpenGeneration* open = world_.holdings.find_open(g);
  if (!open || slots.empty() || under_way(g)) return;
  JudgeRows action{g, by.key, by.sums, slots, {}};
  UnderWay& started = under_way_[g];
  started.by = by;
  for (const std::uint32_t slot : slots) {
    action.vectors.push_back(open->vectors[slot]);
    started.rows.emplace(slot, open->vectors[slot]);
  }
  verdicts_.push_back(std::move(action));
}

const CheckStatement* Judging::stated(std::uint32_t g) const {
  const auto known = under_way_.find(g);
  return known == under_way_.end() ? nullptr : &known->second.by;
}

// While rows are judged, others may take their places: those of a banned peer are removed.
std::vector<std::uint32_t> Judging::still_there(std::uint32_t g,
                                                const std::vector<std::uint32_t>& slots) const {
  const auto known = under_way_.find(g);
  const OpenGeneration* open = world_.holdings.find_open(g);
  std::vector<std::uint32_t> found;
  if (known == under_way_.end() || !open) return found;
  for (const std::uint32_t slot : slots) {
    const auto row = known->second.rows.find(slot);
    if (row == known->second.rows.end() || slot >= open->vectors.size()) continue;
    if (open->vectors[slot] == row->second) found.push_back(slot);
  }
  return found;
}

bool Judging::judged(std::uint32_t g) {
  if (under_way_.erase(g) == 0) return false;
  if (world_.holdings.verified().contains(g)) {
    sums_.erase(g);
    asked_.erase(g);
  }
  changed_.push_back(g);  // rows may have come meanwhile
  return doubted_.erase(g) > 0;
}

// A verdict that is still to come is not to be taken for one on later rows.
void Judging::forget(std::uint32_t g) {
  doubted_.erase(g);
  sums_.erase(g);
  asked_.erase(g);
  peers_.forget(g);
  const auto rows = under_way_.find(g);
  if (rows != under_way_.end()) rows->second.rows.clear();
}

// Of what is judged by them now the verdict counts for nothing.
void Judging::discredit(const PeerId& maker) {
  std::erase_if(sums_, [&](const auto& known) { return known.second.maker == maker; });
  for (auto& [g, one] : under_way_) {
    if (one.by.maker == maker) one.rows.clear();
  }
  peers_.discredit(maker);
  alarm();
}

// --- what does not come ---

void Judging::neighbour_left(const Neighbour& n) {
  peers_.neighbour_left(n);
  requests_.erase(n.key);
  keys_told_.erase(n.key);
  for (auto& [g, asked] : asked_) {
    if (asked.from == n.key) asked.due = world_.context.now;
  }
}

std::vector<std::uint32_t> Judging::take_unanswered() {
  std::vector<std::uint32_t> failed;
  for (auto it = asked_.begin(); it != asked_.end();) {
    const bool overdue = it->second.due <= world_.context.now;
    if (overdue) changed_.push_back(it->first);
    if (overdue && doubted_.erase(it->first) > 0) failed.push_back(it->first);
    it = overdue ? asked_.erase(it) : std::next(it);
  }
  judge_by_peers(failed);
  return failed;
}

void Judging::judge_by_peers(std::vector<std::uint32_t>& failed) {
  for (PeerChecks::Answer& answer : peers_.take_answers()) {
    const std::uint32_t g = answer.generation;
    if (answer.disputed && !disputed_) disputed_ = g;
    if (!answer.statement.sums.empty() && !answer.slots.empty() && !under_way(g)) {
      judge(g, answer.statement, answer.slots);
    } else if (doubted_.erase(g) > 0) {
      failed.push_back(g);
    }
  }
}

TimeUs Judging::next_due() const {
  TimeUs at = peers_.next_due();
  if (regime_.unguided() && !world_.holdings.open().empty()) at = std::min(at, next_sample_);
  for (const auto& [g, asked] : asked_) at = std::min(at, asked.due);
  return at;
}

// --- proof ahead of need ---

// Of all generations where that costs the authority little; else of as many as do, spread by a
// hash: peers that send false blocks show up in those, and are asked for proof from then on.
bool Judging::sampled(std::uint32_t g) const {
  const double sums = kCheckTagBytes * static_cast<double>(world_.neighbours.size());
  const double share = kCheckShareMax * world_.holdings.shape().block_bytes / std::max(sums, 1.0);
  return (g * 2654435761u >> 16) < share * (1 << 16);
}

Judging::Mesh Judging::mesh() const {
  Mesh mesh{regime_.strict(), 0};
  for (const PeerKey key : regime_.authorities())
    mesh.authorities += world_.neighbours.find(key)->holds.has_everything();
  return mesh;
}

// A generation has to be looked at when rows of it have come or were judged, and all of them when
// the mesh is another. What changes little by little (how many are near) a review finds now and
// then. A source has none open, and may have ten thousand neighbours.
void Judging::look_ahead() {
  const auto& all = world_.holdings.open();
  if (all.empty()) return changed_.clear();
  if (const Mesh now = mesh(); now != seen_) {
    seen_ = now;
    next_review_ = world_.context.now;
  }
  if (next_review_ <= world_.context.now) {
    next_review_ = world_.context.now + kJudgingReview;
    for (const auto& [g, open] : all) look_at(g, open);
  } else {
    std::sort(changed_.begin(), changed_.end());
    changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
    for (const std::uint32_t g : changed_) {
      const auto open = all.find(g);
      if (open != all.end()) look_at(g, open->second);
    }
  }
  changed_.clear();
}

// Rows that nobody vouches for: of those neighbours that have shown no true row yet, of all, or
// with those that are believed because their senders hold the generation: if such rows are false,
// others mistrust a relay that passes them on.
std::uint32_t Judging::to_sample(const OpenGeneration& open, Sampled which) const {
  if (open.decoding) return 0;
  if (which == Sampled::kUnbelieved) return open.rows - open.trusted;
  if (which == Sampled::kUnproven) return open.rows - open.proven;
  std::uint32_t rows = 0;
  for (const OpenGeneration::Share& share : open.by_sender) {
    const Neighbour* n = world_.neighbours.find(share.sender);
    if (n && on_trial(n->regard())) rows += share.rows - share.trusted;
  }
  return rows;
}

// Peers are asked about few rows, but often as long as there is somebody new.
void Judging::sample_by_peers() {
  believed_too_ = regime_.believing() && !believed_too_;
  const Sampled others = believed_too_ ? Sampled::kUnproven : Sampled::kUnbelieved;
  next_sample_ = world_.context.now + kPeerSampleTrial;
  for (const Sampled which : {Sampled::kOnTrial, others}) {
    std::uint32_t most = 0, found = 0;
    for (const auto& [g, open] : world_.holdings.open()) {
      const std::uint32_t rows = to_sample(open, which);
      if (rows <= most || peers_.asking(g) || under_way(g) || !peers_.held(g)) continue;
      most = rows;
      found = g;
    }
    if (most == 0) continue;
    peers_.sample(found);
    if (which != Sampled::kOnTrial) next_sample_ = world_.context.now + kPeerSample;
    return;
  }
}

// Where false blocks are about, sums are asked for as soon as a generation is begun: the authority
// may be gone when rows come that want proof.
void Judging::look_at(std::uint32_t g, const OpenGeneration& open) {
  if (alarmed_ && regime_.believing() && !open.decoding && !under_way(g) &&
      4 * (open.rows - open.trusted) >= world_.holdings.blocks_in(g))
    peers_.sample(g);
  const bool asks = regime_.strict();
  const bool all_proven = open.proven == open.rows;
  if (open.decoding || (all_proven && !(asks && alarmed_))) return;
  if (const auto known = sums_.find(g); known != sums_.end()) {
    if (!all_proven && !under_way(g)) judge_unproven(g, known->second);
  } else if (asks && !asked_.contains(g)) {
    if (alarmed_ || sampled(g)) ask(g);
  }
}

}  // namespace firn::core::trust
