#include "client/core/scheduler.h"

#include <algorithm>
#include <cmath>

#include "client/core/policy.h"

namespace firn::core {

std::uint32_t busy_connections(const Neighbours& neighbours, TimeUs now) {
  std::uint32_t busy = 0;
  for (const auto& [key, n] : neighbours) busy += n->queued > 0 && !n->stuck(now) ? 1 : 0;
  return busy;
}

std::uint32_t busy_connections_max(double blocks_per_second, bool small_mesh) {
  const TimeUs time = small_mesh ? policy::kBusyTime : policy::kBusyTimeLarge;
  const double blocks = blocks_per_second * static_cast<double>(time) * 1e-6;
  if (blocks <= 0) return policy::kBusyConnections;
  const auto rounded = static_cast<std::uint32_t>(std::ceil(std::min(blocks, 100.0)));
  return std::clamp(rounded, policy::kBusyConnectionsMin, policy::kBusyConnections);
}

TimeUs uplink_patience(double blocks_per_second, std::uint32_t busy_max) {
  const double turn = 1e6 * busy_max / std::max(blocks_per_second, 1e-3);
  return static_cast<TimeUs>(
      std::min(turn * policy::kPatienceTurns, static_cast<double>(policy::kStuckTime)));
}

bool can_take_block(const Neighbour& neighbour, std::uint32_t busy, std::uint32_t busy_max) {
  if (neighbour.queued > 0) return neighbour.queued < neighbour.pipeline_depth();
  return busy < busy_max;
}

// --- source ---

namespace {

// The median of what those downloading say of their uplinks, KiB a second; 0: nobody has said. Not
// the mean: one that claims enough would make everybody else look like one that passes nothing on.
double usual_uplink(const Neighbours& neighbours) {
  std::vector<std::uint64_t> said;
  for (const auto& [key, n] : neighbours) {
    if (!n->has_everything() && n->upload_kib > 0) said.push_back(n->upload_kib);
  }
  if (said.empty()) return 0;
  const auto middle = said.begin() + static_cast<std::ptrdiff_t>(said.size() / 2);
  std::nth_element(said.begin(), middle, said.end());
  return static_cast<double>(*middle);
}

// Rows go to where they are passed on from. It is hearsay, so within bounds.
double weight_of(const Neighbour& neighbour, double usual) {
  if (neighbour.upload_kib == 0 || usual == 0) return 1;
  return std::clamp(neighbour.upload_kib / usual, policy::kWeightMin, policy::kWeightMax);
}

}  // namespace

SourcePolicy::SourcePolicy(const Shape& shape, bool dense)
    : shape_(shape),
      dense_(dense),
      served_(shape.generation_count(), 0),
      next_plain_(shape.generation_count(), 0),
      gaps_(shape) {}

// Systematic blocks are worth sending only where no other source or earlier run has begun.
bool SourcePolicy::fresh_everywhere(std::uint32_t g, const Neighbours& neighbours) const {
  for (const auto& [key, n] : neighbours) {
    if (n->prefers_coded || (!n->has_everything() && n->remote_rank(g) > 0)) return false;
  }
  return true;
}

std::optional<std::uint32_t> SourcePolicy::choose_generation(const Holdings& holdings,
                                                             const Neighbour& neighbour) const {
  const auto lacks = [&](std::uint32_t g) {
    if (!holdings.verified().contains(g) || !neighbour.wants(g)) return false;
    const RemoteGeneration* known = neighbour.partial().find(g);
    if (!known) return true;
    const RemoteGeneration& remote = *known;
    const std::uint32_t blocks = shape_.blocks_in(g);
    if (remote.expected_rank() >= blocks) return false;
    if (remote.quota == RemoteGeneration::kNoQuota) return true;
    // Near its end others fill it too, and with several sources at any time: then the quota holds
    // for us as well. Nothing at all means that it is to come from somebody else.
    const bool closing = blocks - remote.rank < policy::kWindowMin;
    if (neighbour.prefers_coded) return remote.in_flight < remote.quota;
    return closing ? remote.in_flight < std::max<std::uint32_t>(remote.quota, 1) : remote.quota > 0;
  };
  for (const Gaps::Gap& gap : gaps_.gaps()) {
    if (gap.rows > 0 && lacks(gap.generation)) return gap.generation;
  }
  const GenerationSet& settled = neighbour.settled();
  const std::uint32_t count = settled.size();
  std::uint32_t looked = 0;
  for (std::uint32_t g = settled.next_missing(cursor_); g < count && looked < policy::kLookMax;
       g = settled.next_missing(g + 1), ++looked) {
    if (served_[g] < shape_.blocks_in(g) && lacks(g)) return g;
  }
  // Second pass: of the first few it lacks, the one served least.
  std::optional<std::uint32_t> best;
  std::uint32_t seen = 0;
  for (std::uint32_t g = settled.next_missing(0); g < count && seen < policy::kScanMax;
       g = settled.next_missing(g + 1)) {
    if (!holdings.verified().contains(g)) continue;
    ++seen;
    if (lacks(g) && (!best || served_[g] < served_[*best])) best = g;
  }
  return best;
}

std::optional<Choice> SourcePolicy::choose(const Holdings& holdings, Neighbours& neighbours,
                                           std::uint32_t busy_max, TimeUs now) {
  std::optional<Choice> best;
  double least = 0;
  const std::uint32_t busy = busy_connections(neighbours, now);
  const double usual = usual_uplink(neighbours);
  gaps_.review(neighbours, cursor_, cursor_ < served_.size(), now);
  for (auto& [key, n] : neighbours) {
    if (!n->may_send() || n->satisfied()) continue;
    if (!can_take_block(*n, busy, busy_max)) continue;
    const double served = n->served_rate(now) / weight_of(*n, usual);
    if (best && served >= least) continue;
    const auto g = choose_generation(holdings, *n);
    if (!g) continue;
    best = Choice{n.get(), *g, std::nullopt, false};
    least = served;
  }
  if (!best) return best;
  const std::uint32_t g = best->generation;
  if (dense_ || best->neighbour->prefers_coded) return best;
  if (served_[g] == 0 && next_plain_[g] == 0 && !fresh_everywhere(g, neighbours)) {
    next_plain_[g] = shape_.blocks_in(g);
  }
  if (next_plain_[g] < shape_.blocks_in(g)) best->source_index = next_plain_[g];
  return best;
}

void SourcePolicy::served(const Choice& choice, TimeUs now) {
  const std::uint32_t g = choice.generation;
  ++served_[g];
  gaps_.served(g, now);
  if (choice.source_index) next_plain_[g] = *choice.source_index + 1;
  while (cursor_ < served_.size() && served_[cursor_] >= shape_.blocks_in(cursor_)) ++cursor_;
}

// --- relay ---

namespace {

constexpr std::uint64_t kServedLast = std::uint64_t{1} << 63;

// It says that it has far fewer neighbours than we have.
bool has_few_neighbours(const Neighbour& n, std::size_t ours) {
  return n.neighbours > 0 && n.neighbours < policy::kFewNeighbours * static_cast<double>(ours);
}

}  // namespace

RelayPolicy::Candidate RelayPolicy::judge(const Holdings& holdings, Neighbour& neighbour,
                                          std::uint32_t g, bool small_mesh, TimeUs now) const {
  const std::uint32_t n = holdings.blocks_in(g);
  const std::uint32_t own = holdings.rank(g);
  if (own == 0) return {};
  const RemoteGeneration* known = neighbour.partial().find(g);
  const std::uint32_t need = known ? known->expected_rank() : 0;
  if (need >= n || (known && known->quota_used())) return {};
  const OpenGeneration* open = holdings.find_open(g);
  const std::uint32_t sent = known ? known->sent : 0;
  std::uint32_t gap = own > need ? own - need : 0;
  // What it sent us lies in its span, whatever its last State says of its rank: there is no more
  // news for it than rows that came from others and that we have not sent it combinations of.
  if (open) {
    const std::uint32_t foreign = open->rows - open->rows_from(neighbour.id);
    gap = std::min(gap, foreign > sent ? foreign - sent : 0);
  }
  if (!small_mesh) {
    if (gap > 0) return {g, 1.0 + gap, false};
  } else {
    // First-hand rule: what came straight from the source is news to the others, once each.
    if (open && open->first_hand > sent) return {g, 5.0 + gap, false};
    // The front is closed to second-hand rows, which everybody would relay to everybody; not so
    // where it stands still, for then nothing else will move it.
    const bool at_front =
        g + 1 >= holdings.frontier() && !(open && now - open->last_growth > policy::kStallTime);
    if (gap > 0 && (own >= n || !at_front || n - need <= policy::kClosing)) {
      return {g, 1.0 + gap, false};
    }
  }
  // A null vector proves that a block is news although the ranks do not tell.
  if (known && known->has_null_vector) {
    NullVector& null = *neighbour.null_vector(g);
    if (null.tested_at != own) {
      null.reached = own >= n || (open && open->basis.reaches(null.z));
      null.tested_at = own;
    }
    if (null.reached) return {g, 1.0, true};
  }
  return {};
}

// Of those we hold some of and it lacks: the lowest eligible generation, in a large mesh the best
// of the lowest eligible ones. The time this takes is bounded, whatever a neighbour claims: where
// the lowest kLookMax are of no use to it, as many others are looked at, in turn.
RelayPolicy::Candidate RelayPolicy::best_generation(const Holdings& holdings, Neighbour& neighbour,
                                                    bool small_mesh, TimeUs now) {
  std::uint32_t g = neighbour.settled().next_missing(0);
  const Candidate best = best_from(g, holdings, neighbour, small_mesh, now);
  if (best.score > 0 || g >= holdings.generation_count()) return best;
  g = std::max(g, neighbour.look_from);
  const std::uint32_t from = g;
  const Candidate other = best_from(g, holdings, neighbour, small_mesh, now);
  neighbour.look_from = other.score > 0 ? from : g < holdings.generation_count() ? g : 0;
  return other;
}

// From generation g on, which moves past those looked at.
RelayPolicy::Candidate RelayPolicy::best_from(std::uint32_t& g, const Holdings& holdings,
                                              Neighbour& neighbour, bool small_mesh, TimeUs now) {
  Candidate best;
  double best_key = 0;
  std::uint32_t seen = 0;
  const GenerationSet& settled = neighbour.settled();
  const std::uint32_t base = g;
  for (std::uint32_t looked = 0; looked < policy::kLookMax && seen < policy::kScanMax; ++looked) {
    g = holdings.next_held(g);
    if (g >= holdings.generation_count()) break;
    if (settled.contains(g)) {
      g = settled.next_missing(g);
      continue;
    }
    const Candidate candidate = judge(holdings, neighbour, g++, small_mesh, now);
    if (candidate.score <= 0) continue;
    if (small_mesh) return candidate;
    ++seen;
    const bool whole =
        holdings.rank(candidate.generation) >= holdings.blocks_in(candidate.generation);
    const double key =
        (whole ? std::min(candidate.score, double{policy::kGapCap}) : candidate.score) +
        random_.below(512) / 1024.0 - (candidate.generation - base) * 1e-3;
    if (best.score <= 0 || key > best_key) {
      best = candidate;
      best_key = key;
    }
  }
  return best;
}

// In turn, but sooner who lacks more (kChoicesPerRow); the first for whom there is anything.
// Strictly the most deprived first, all senders would choose the same one at a time, and its
// downlink's queue would overflow while others stand idle. Who has few neighbours comes sooner: it
// has only those to be served by, and what it gets it passes on to those who have many, where few
// others have anything for them. Who only takes comes after all others, but for an optimistic share
// of the choices: who has just come has had no chance to give, and who is slow is not to be
// starved.
std::optional<Choice> RelayPolicy::choose(const Holdings& holdings, Neighbours& neighbours,
                                          bool small_mesh, std::uint32_t busy_max, TimeUs now) {
  const std::uint32_t busy = busy_connections(neighbours, now);
  eligible_.clear();
  const std::uint64_t row_worth = small_mesh ? policy::kChoicesPerRow : policy::kChoicesPerRowLarge;
  const bool optimistic = random_.below(policy::kOptimisticShare) == 0;
  std::uint64_t few = 0;
  for (const auto& [key, n] : neighbours) {
    few += !n->has_everything() && has_few_neighbours(*n, neighbours.size()) ? 1 : 0;
  }
  for (auto& [key, n] : neighbours) {
    if (!n->may_send() || !can_take_block(*n, busy, busy_max) || n->satisfied()) continue;
    const std::uint64_t last = !optimistic && n->only_takes(now) ? kServedLast : 0;
    // Ranks are hearsay: who tells of none has had what we sent it.
    const std::uint64_t rank = std::max(n->expected_total_rank(), n->blocks_sent);
    std::uint64_t turn = rank * row_worth + n->last_choice;
    if (!has_few_neighbours(*n, neighbours.size())) turn += few * policy::kChoicesForFew;
    eligible_.emplace_back(last | turn << 10 | random_.below(1024), n.get());
  }
  std::stable_sort(eligible_.begin(), eligible_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [rank, n] : eligible_) {
    const Candidate candidate = best_generation(holdings, *n, small_mesh, now);
    if (candidate.score <= 0) continue;
    n->last_choice = ++choices_;
    return Choice{n, candidate.generation, std::nullopt, candidate.use_null_vector};
  }
  return std::nullopt;
}

}  // namespace firn::core
