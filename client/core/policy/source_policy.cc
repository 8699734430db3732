#include "client/core/policy/source_policy.h"

#include <algorithm>
#include <cmath>

#include "client/core/policy/constants.h"
#include "client/core/policy/late_binding.h"
#include "client/core/policy/plain_blocks.h"

namespace firn::core::policy {

namespace {

// The median of what downloading neighbours say of their uplinks, KiB a second; 0: none has.
// Not the mean: one neighbour that claims enough would make every other look like one that passes
// nothing on.
double usual_uplink(const Neighbours& neighbours) {
  std::vector<std::uint64_t> said;
  for (const Neighbour& n : neighbours) {
    if (!n.holds.has_everything() && n.holds.upload_kib() > 0) {
      said.push_back(n.holds.upload_kib());
    }
  }
  if (said.empty()) return 0;
  const auto middle = said.begin() + static_cast<std::ptrdiff_t>(said.size() / 2);
  std::nth_element(said.begin(), middle, said.end());
  return static_cast<double>(*middle);
}

// Rows go to where they are passed on from. It is hearsay, so within bounds.
double weight_of(const Neighbour& neighbour, double usual) {
  double weight = neighbour.worth;
  if (neighbour.holds.upload_kib() > 0 && usual > 0) weight *= neighbour.holds.upload_kib() / usual;
  return std::clamp(weight, kWeightMin, kWeightMax);
}

}  // namespace

// A relay passes on each row that it was given to each of the others, so that its share is about 1,
// or less where the source is faster than all relays together. Half of what is usual may be lost to
// queues and to what others sent first. Below that it falls steeply: a peer that passes on a fifth
// of its rows wastes the other four.
double worth_of(double passed_share, double usual_share) {
  const double expected = std::min(usual_share, 1.0) / 2;
  if (expected <= 0) return 1;
  return std::clamp(std::pow(passed_share / expected, kWorthSteepness), kWorthMin, 1.0);
}

SourcePolicy::SourcePolicy(const Shape& shape, bool dense)
    : shape_(shape),
      dense_(dense),
      next_plain_(shape.generation_count(), 0),
      pass_(shape),
      gaps_(shape) {}

// Systematic blocks are worth sending only where no other source or earlier run has begun.
bool SourcePolicy::fresh_everywhere(std::uint32_t g, const Neighbours& neighbours) const {
  for (const Neighbour& n : neighbours) {
    if (n.holds.prefers_coded() || (!n.holds.has_everything() && n.holds.rank(g) > 0)) return false;
  }
  return true;
}

bool SourcePolicy::lacks(const Holdings& holdings, const Neighbour& neighbour,
                         std::uint32_t g) const {
  if (!holdings.verified().contains(g) || !neighbour.holds.wants(g)) return false;
  const RemoteGeneration* known = neighbour.holds.partial().find(g);
  if (!known) return true;
  const RemoteGeneration& remote = *known;
  const std::uint32_t blocks = shape_.blocks_in(g);
  if (remote.expected_rank() >= blocks) return false;
  if (remote.plain) return !remote.quota_used() && any_plain_block(holdings, neighbour, g);
  if (remote.quota == RemoteGeneration::kNoQuota) return true;
  // Near its end other senders fill it too, and with several sources at any time: then the quota
  // holds for us as well. A quota of 0 means that the rows are to come from another sender.
  const bool closing = blocks - remote.rank < kWindowMin;
  if (neighbour.holds.prefers_coded()) return remote.in_flight < remote.quota;
  return closing ? remote.in_flight < std::max<std::uint32_t>(remote.quota, 1) : remote.quota > 0;
}

std::optional<std::uint32_t> SourcePolicy::choose_generation(const Holdings& holdings,
                                                             const Neighbour& neighbour) const {
  for (const Gaps::Gap& gap : gaps_.gaps()) {
    if (gap.rows > 0 && lacks(holdings, neighbour, gap.generation)) return gap.generation;
  }
  const GenerationSet& settled = neighbour.holds.settled();
  const std::uint32_t count = settled.size();
  std::uint32_t looked = 0;
  for (std::uint32_t g = settled.next_missing(pass_.cursor()); g < count && looked < kLookMax;
       g = settled.next_missing(g + 1), ++looked) {
    if (!pass_.whole(g) && lacks(holdings, neighbour, g)) return g;
  }
  // Second pass: of the first few it lacks, the one served least.
  std::optional<std::uint32_t> best;
  std::uint32_t seen = 0;
  for (std::uint32_t g = settled.next_missing(0); g < count && seen < kScanMax;
       g = settled.next_missing(g + 1)) {
    if (!holdings.verified().contains(g)) continue;
    ++seen;
    if (lacks(holdings, neighbour, g) && (!best || pass_.blocks(g) < pass_.blocks(*best))) best = g;
  }
  return best;
}

// In a large mesh those that are doubted get a part of the blocks together, however many they are
// and whenever they come: polluters that all others have banned gather at a source.
std::optional<Choice> SourcePolicy::choose(const Holdings& holdings, const Neighbours& neighbours,
                                           bool small_mesh, std::uint32_t busy_max, TimeUs now) {
  struct Best {
    const Neighbour* neighbour = nullptr;
    std::uint32_t generation = 0;
    double served = 0;
  };
  Best trusted, doubted;
  bool others = false;  // that are not doubted
  const std::uint32_t busy = busy_connections(neighbours, now);
  const double usual = usual_uplink(neighbours);
  gaps_.review(neighbours, pass_.passed(), !pass_.over(), now);
  for (const Neighbour& n : neighbours) {
    if (!n.may_send() || n.holds.satisfied()) continue;
    const bool doubts = !small_mesh && n.doubted();
    others |= !doubts;
    if (!can_take_block(n, busy, busy_max)) continue;
    Best& best = doubts ? doubted : trusted;
    const double served = n.pipe.served_rate(now) / weight_of(n, usual);
    if (best.neighbour && served >= best.served) continue;
    if (const auto chosen = choose_generation(holdings, n)) best = {&n, *chosen, served};
  }
  const bool spare = for_doubted_ >= 1 && (!trusted.neighbour || doubted.served < trusted.served);
  const bool to_doubted = doubted.neighbour && (!others || spare);
  const Best& best = to_doubted ? doubted : trusted;
  if (!best.neighbour) return std::nullopt;
  Choice choice = choice_of(*best.neighbour, best.generation, neighbours);
  choice.doubted = to_doubted;
  return choice;
}

Choice SourcePolicy::choice_of(const Neighbour& n, std::uint32_t g, const Neighbours& neighbours) {
  Choice choice;
  choice.peer = n.key;
  choice.generation = g;
  const RemoteGeneration* known = n.holds.partial().find(g);
  choice.plain = known && known->plain;
  if (choice.plain) return choice;
  if (dense_ || n.holds.prefers_coded()) return choice;
  if (pass_.blocks(g) == 0 && next_plain_[g] == 0 && !fresh_everywhere(g, neighbours)) {
    next_plain_[g] = shape_.blocks_in(g);
  }
  if (next_plain_[g] < shape_.blocks_in(g)) choice.source_index = next_plain_[g];
  return choice;
}

// What was asked for plainly is no part of a pass over the generation.
void SourcePolicy::served(const Choice& choice, TimeUs now) {
  for_doubted_ = choice.doubted ? std::max(for_doubted_ - 1, 0.0)
                                : std::min(for_doubted_ + kDoubtedPart, kDoubtedAtOnce);
  if (choice.plain) return;
  const std::uint32_t g = choice.generation;
  if (choice.source_index) next_plain_[g] = *choice.source_index + 1;
  if (choice.doubted) return;
  pass_.served(choice.peer, g);
  gaps_.served(g, now);
}

void SourcePolicy::neighbour_lost(PeerKey peer) {
  pass_.forget(peer);
  gaps_.neighbour_lost(pass_.passed());
}

void SourcePolicy::rows_lost(const Neighbours& neighbours) {
  pass_.take_back(neighbours);
  gaps_.neighbour_lost(pass_.passed());
}

}  // namespace firn::core::policy
