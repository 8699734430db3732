#include "client/core/trust/peer_checks.h"

#include <algorithm>
#include <string>
#include <utility>

#include "client/core/base/constants.h"
#include "client/core/trust/proof_serving.h"
#include "codec/check_key.h"
#include "proto/base/digest.h"
#include "proto/wire_fields.h"

namespace firn::core::trust {

// Where no authority is near a peer asks other holders for sums: at most kMakers of those that have
// told the truth before. It asks kPeerChecksMax times about a generation that decodes to false
// data, then fetches it plainly; the second is where it knows no such holder.
constexpr std::size_t kMakers = 8;
constexpr std::uint32_t kPeerChecksMax = 32;
constexpr std::uint32_t kPeerChecksMaxUnsure = 3;
// Generations that a peer asks about a second, and twice as many at once, as makers answer more.
constexpr std::uint64_t kSamplesPerSecond = 8;

PeerChecks::PeerChecks(const World& world, Verdicts& verdicts, CheckReview& review)
    : world_(world),
      verdicts_(verdicts),
      review_(review),
      samples_(kSamplesPerSecond, 2 * kSamplesPerSecond, world.context.now),
      random_(world.context.options.seed, 0x6d616b657273) {}

// --- asking ---

bool PeerChecks::makes(const Neighbour& n, std::uint32_t g) const {
  return n.holds.heard() && n.holds.complete().contains(g) && !liars_.contains(n.id);
}

bool PeerChecks::held(std::uint32_t g) const {
  const Neighbours& all = world_.neighbours;
  return std::any_of(all.begin(), all.end(), [&](const Neighbour& n) { return makes(n, g); });
}

bool PeerChecks::sure(std::uint32_t g) const {
  const Neighbours& all = world_.neighbours;
  return std::any_of(all.begin(), all.end(),
                     [&](const Neighbour& n) { return truthful(n.id) && makes(n, g); });
}

std::vector<const Neighbour*> PeerChecks::makers(std::uint32_t g) {
  std::vector<const Neighbour*> known, all;
  for (const Neighbour& n : world_.neighbours) {
    if (!makes(n, g)) continue;
    all.push_back(&n);
    if (truthful(n.id)) known.push_back(&n);
  }
  if (known.empty()) return all;
  const std::size_t wanted = std::min(known.size(), kMakers);
  for (std::size_t i = 0; i < wanted; ++i) {
    std::swap(known[i], known[i + random_.below(static_cast<std::uint32_t>(known.size() - i))]);
  }
  known.resize(wanted);
  return known;
}

// Nobody can know it before: the secret is this process's own.
codec::SecretVector<std::uint8_t> PeerChecks::draw_key() {
  std::string bytes = "firn peer check v1";
  const auto& secret = world_.context.options.key_secret;
  bytes.append(secret.begin(), secret.end());
  bytes += std::to_string(world_.context.options.seed) + " " + std::to_string(++drawn_);
  const Digest digest = sha256(proto::as_bytes(bytes));
  codec::wipe(bytes.data(), bytes.size());
  return {digest.bytes.begin(), digest.bytes.end()};
}

bool PeerChecks::sample(std::uint32_t g) {
  if (asking(g)) return true;
  if (!samples_.ready(world_.context.now) || !ask(g)) return false;
  samples_.take(pass_cost(world_.holdings.shape(), g, kSumsPassBytes));
  return true;
}

// In the end it is better fetched plainly.
bool PeerChecks::doubt(std::uint32_t g) {
  if (asking(g)) return true;
  const std::uint32_t most = sure(g) ? kPeerChecksMax : kPeerChecksMaxUnsure;
  return doubted_[g]++ < most && ask(g);
}

bool PeerChecks::ask(std::uint32_t g) {
  const OpenGeneration* open = world_.holdings.find_open(g);
  if (!open) return false;
  Question question;
  for (const std::uint32_t slot : open->unproven())
    question.rows.emplace(slot, open->vectors[slot]);
  const std::vector<const Neighbour*> asked = makers(g);
  if (question.rows.empty() || asked.empty()) return false;
  question.key = draw_key();
  question.due = world_.context.now + kCheckTimeout;
  for (const Neighbour* n : asked) {
    question.waits_for.push_back(n->key);
    ever_asked_.insert(n->key);
    verdicts_.push_back(
        Send{n->key, proto::CheckRequest{{g}, {question.key.begin(), question.key.end()}}});
  }
  questions_.emplace(g, std::move(question));
  return true;
}

// --- answers ---

bool PeerChecks::replied(const Neighbour& n, proto::CheckReply&& reply) {
  if (!ever_asked_.contains(n.key)) return false;
  const auto known = questions_.find(reply.generation);
  if (known == questions_.end()) return true;  // it came too late
  Question& question = known->second;
  const bool keyless = reply.key.empty() && reply.sums.empty();               // it makes none
  if (!keyless && !std::ranges::equal(reply.key, question.key)) return true;  // likewise
  if (std::erase(question.waits_for, n.key) == 0 || reply.sums.empty()) return true;
  const std::size_t blocks = world_.holdings.blocks_in(reply.generation);
  const std::size_t tag = reply.sums.size() / blocks;
  if (reply.sums.size() % blocks != 0 || !codec::CheckKey::valid_tag_bytes(tag)) return false;
  if (tag != kCheckTagBytes) return true;  // it could not be compared with others
  CheckStatement statement{n.id, question.key, {reply.sums.begin(), reply.sums.end()}, false};
  review_.heard(reply.generation, statement);
  if (question.first.sums.empty()) {
    question.first = std::move(statement);
  } else {
    question.disagreed |= question.first.sums != statement.sums;
  }
  return true;
}

bool PeerChecks::over(const Question& question) const {
  return question.waits_for.empty() || question.due <= world_.context.now;
}

std::vector<PeerChecks::Answer> PeerChecks::take_answers() {
  std::vector<Answer> answers;
  for (auto it = questions_.begin(); it != questions_.end();) {
    auto& [g, question] = *it;
    if (!over(question)) {
      ++it;
      continue;
    }
    // Where one kept silent others are asked as well from now on: else such a peer could keep this
    // one from judging.
    for (const PeerKey peer : question.waits_for) {
      if (const Neighbour* n = world_.neighbours.find(peer)) truthful_.remove(n->id);
    }
    Answer& answer = answers.emplace_back(Answer{g, {}, question.disagreed, {}});
    if (!question.disagreed) answer.statement = std::move(question.first);
    const OpenGeneration* open = world_.holdings.find_open(g);
    for (const auto& [slot, vector] : question.rows) {
      if (open && slot < open->vectors.size() && open->vectors[slot] == vector &&
          !open->has(slot, Rows::kProven))
        answer.slots.push_back(slot);
    }
    it = questions_.erase(it);
  }
  return answers;
}

// Where another has said something else nobody is believed: it is asked anew.
void PeerChecks::discredit(const PeerId& maker) {
  truthful_.remove(maker);
  liars_.add(maker);
  for (auto& [g, question] : questions_) {
    if (question.first.maker == maker) question.first = {};
  }
}

void PeerChecks::forget(std::uint32_t g) {
  questions_.erase(g);
  doubted_.erase(g);
  wrong_.erase(g);
}

void PeerChecks::neighbour_left(const Neighbour& n) {
  ever_asked_.erase(n.key);
  for (auto& [g, question] : questions_) std::erase(question.waits_for, n.key);
}

TimeUs PeerChecks::next_due() const {
  TimeUs at = kNever;
  for (const auto& [g, question] : questions_) {
    at = std::min(at, over(question) ? world_.context.now : question.due);
  }
  return at;
}

}  // namespace firn::core::trust
