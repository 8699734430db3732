#include "client/core/send/source/source_policy.h"

#include <algorithm>
#include <cmath>

#include "client/core/base/constants.h"
#include "client/core/neighbour/grants.h"
#include "client/core/send/choice/plain_blocks.h"
#include "client/core/send/source/voices.h"

namespace firn::core::policy {

// In a large mesh neighbours of low worth together get kLowWorthPart of a source's blocks, at most
// kLowWorthAtOnce at a time. More: polluters get first-hand rows; less: those judged wrongly
// starve.
constexpr double kLowWorthPart = 1.0 / 32;
constexpr double kLowWorthAtOnce = 4;
// A source looks at all neighbours again when what is usual of their uplinks has moved so far, and
// where there are few whenever it moves.
constexpr double kUsualStep = 1.0 / 16;
// After its first pass a source serves a receiver kScanEach generations at a time for each of its
// senders, in sequence if it is the only one, and no more than have kScanBlocks blocks together,
// or kScanMin generations [062].
constexpr std::uint32_t kScanBlocks = 4096;
constexpr std::uint32_t kScanMin = 4;
constexpr std::uint32_t kScanEach = 8;  // [098]
constexpr double kWorthSteepness = 3;   // [042]. More: one bad second costs a neighbour a lot

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
      among_max_(std::clamp(kScanBlocks / shape.generation_size, kScanMin, kScanMax)),
      next_plain_(shape.generation_count(), 0),
      pass_(shape),
      plain_pass_(shape),
      lost_rows_(shape) {}

// Systematic blocks are worth sending only where no other source or earlier run has begun.
bool SourcePolicy::fresh_everywhere(std::uint32_t g, const Neighbours& neighbours) const {
  for (const Neighbour& n : neighbours) {
    if (n.holds.prefers_coded() || (!n.holds.has_everything() && n.holds.rank(g) > 0)) return false;
  }
  return true;
}

std::optional<WhyNot> SourcePolicy::why_none_of(std::uint32_t g, const Holdings& holdings,
                                                const Neighbour& neighbour) const {
  if (!holdings.verified().contains(g)) return WhyNot::kNothingHeld;
  if (!neighbour.holds.wants(g)) return WhyNot::kWantsNothing;
  const RemoteGeneration* known = neighbour.holds.partial().find(g);
  if (!known) return std::nullopt;
  const std::uint32_t blocks = shape_.blocks_in(g);
  if (known->expected_rank() >= blocks) return WhyNot::kNoNews;
  if (known->plain) {
    if (known->quota_used()) return WhyNot::kOthersSend;
    if (!any_plain_block(holdings, neighbour, g)) return WhyNot::kNotAskedFor;
    return std::nullopt;
  }
  if (known->quota == RemoteGeneration::kNoQuota) return std::nullopt;
  // Near its end other senders fill it too, and with several sources at any time: then the quota
  // holds for us as well. A quota of 0 means that the rows are to come from another sender.
  const bool closing = blocks - known->rank < kWindowMin;
  bool takes =
      closing ? known->in_flight < std::max<std::uint32_t>(known->quota, 1) : known->quota > 0;
  if (neighbour.holds.prefers_coded()) takes = known->in_flight < known->quota;
  if (!takes) return WhyNot::kOthersSend;
  return std::nullopt;
}

// Of the lowest generation that it lacks.
std::optional<WhyNot> SourcePolicy::why_not(const Holdings& holdings, const Neighbour& neighbour,
                                            const Sockets& sockets) const {
  if (const auto why = why_none_now(neighbour, sockets)) return why;
  if (!choose_generation(holdings, neighbour)) {
    const std::uint32_t lowest = neighbour.holds.settled().next_missing(0);
    return why_none_of(lowest, holdings, neighbour).value_or(WhyNot::kNoNews);
  }
  if (!circumstances_.small_mesh && neighbour.low_worth() && line_.anybody_wants(false))
    return WhyNot::kOthersFirst;
  return std::nullopt;
}

// The neighbour fetches all plainly, in a large mesh.
bool SourcePolicy::shares_plainly(const Neighbour& neighbour, std::uint32_t g) const {
  return !circumstances_.small_mesh && neighbour.holds.held_blocks().find(g);
}

// What it reads and nobody was given yet, or has lost; once all was given, what it reads.
std::optional<std::uint32_t> SourcePolicy::urgent(const Holdings& holdings,
                                                  const Neighbour& neighbour) const {
  for (const auto& [soon, g] : neighbour.holds.urgent())
    if ((pass_.over() || !pass_.whole(g) || lost_rows_.lost(g)) && lacks(holdings, neighbour, g))
      return g;
  return std::nullopt;
}

void SourcePolicy::line_up(const Neighbour& n) {
  const bool urgent = std::ranges::any_of(n.holds.urgent(), [&](const auto& one) {
    return !one.first && !pass_.whole(one.second) && n.holds.wants(one.second);
  });
  line_.update(n, circumstances_, urgent);
}

// Of the first pass. A neighbour that fetches plainly asks for a part of each generation.
std::optional<std::uint32_t> SourcePolicy::not_passed(const Holdings& holdings,
                                                      const Neighbour& neighbour) const {
  const GenerationSet& settled = neighbour.holds.settled();
  std::uint32_t looked = 0;
  for (std::uint32_t g = settled.next_missing(pass_.cursor());
       g < settled.size() && looked < kLookMax; g = settled.next_missing(g + 1), ++looked) {
    if (!pass_.whole(g) && lacks(holdings, neighbour, g) &&
        (!shares_plainly(neighbour, g) || plain_pass_.due(neighbour, g)))
      return g;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> SourcePolicy::choose_generation(const Holdings& holdings,
                                                             const Neighbour& neighbour) const {
  if (!circumstances_.small_mesh) {
    const auto lost = plain_pass_.lost(neighbour, pass_);
    if (lost && lacks(holdings, neighbour, *lost)) return lost;
  }
  if (const auto g = urgent(holdings, neighbour)) return g;
  for (const LostRows::Loss& loss : lost_rows_.losses()) {
    if (shares_plainly(neighbour, loss.generation)) continue;  // that tells better
    if (loss.rows > 0 && lacks(holdings, neighbour, loss.generation)) return loss.generation;
  }
  if (const auto g = not_passed(holdings, neighbour)) return g;
  if (const auto g = among_first(holdings, neighbour)) return g;
  return among_open(holdings, neighbour);
}

// Several senders keep out of each other's way if each has more to choose from. Of a single one all
// comes in sequence: what the receiver has in part takes room on its disk.
std::uint32_t SourcePolicy::among(const Neighbour& neighbour) const {
  const std::uint32_t senders = neighbour.holds.connections();
  if (senders == 0) return among_max_;  // it has not said yet
  return senders == 1 ? 1 : std::min(kScanEach * senders, among_max_);
}

// Second pass: of the first few it lacks, the one served least. Few, as far as there is something
// to choose from: a source that goes round among more than it has in memory reads each again and
// again.
std::optional<std::uint32_t> SourcePolicy::among_first(const Holdings& holdings,
                                                       const Neighbour& neighbour) const {
  const GenerationSet& settled = neighbour.holds.settled();
  const std::uint32_t count = settled.size();
  const std::uint32_t most = among(neighbour);
  std::optional<std::uint32_t> best;
  std::uint32_t seen = 0, lacking = 0;
  for (std::uint32_t g = settled.next_missing(0); g < count && seen < kScanMax;
       g = settled.next_missing(g + 1)) {
    if (!holdings.verified().contains(g)) continue;
    ++seen;
    if (!lacks(holdings, neighbour, g)) continue;
    if (!best || pass_.blocks(g) < pass_.blocks(*best)) best = g;
    if (++lacking >= most) break;
  }
  return best;
}

// The same of those that it holds in part, wherever they are: relays that have left since may have
// opened as many to it as it has memory for, all of them far ahead, and it takes no others.
std::optional<std::uint32_t> SourcePolicy::among_open(const Holdings& holdings,
                                                      const Neighbour& neighbour) const {
  const std::uint32_t most = among(neighbour);
  std::optional<std::uint32_t> best;
  std::uint32_t lacking = 0;
  neighbour.holds.partial().each([&](std::uint32_t g, const RemoteGeneration& known) {
    if (lacking >= most || known.quota_used() || !lacks(holdings, neighbour, g)) return;
    if (!best || pass_.blocks(g) < pass_.blocks(*best)) best = g;
    ++lacking;
  });
  return best;
}

void SourcePolicy::told(const Neighbour& n) {
  claims_.update(n);
  pass_.told(n);
  plain_pass_.told(n);
  line_up(n);
}

void SourcePolicy::neighbour_left(const Neighbour& n) {
  claims_.neighbour_left(n.key);
  line_.neighbour_left(n.key);
  pass_.forget(n.key);
  if (n.pipe.blocks_sent() > 0 && !n.holds.has_everything())
    lost_rows_.neighbour_lost(pass_.passed());
}

// Brings the line up to date where more than single neighbours have changed. What is usual weighs
// all alike, but for the bounds of a weight: where many must be looked at, small changes wait.
void SourcePolicy::refresh(const Neighbours& neighbours, bool small_mesh, TimeUs now) {
  pass_.leave_out_unwanted(neighbours);
  const bool lost = lost_rows_.review(neighbours, pass_.passed(), !pass_.over(), now);
  const double usual = claims_.usual();
  if (!small_mesh) plain_pass_.review(neighbours, usual, now);
  const double step = neighbours.size() > kFewToLookAt ? kUsualStep : 0;
  const bool moved =
      std::abs(usual - circumstances_.usual_uplink) > step * circumstances_.usual_uplink;
  if (look_at_all_ || moved || small_mesh != circumstances_.small_mesh ||
      line_.some_hurry() != circumstances_.rush) {
    if (small_mesh) plain_pass_.clear();
    circumstances_ = {small_mesh, usual, line_.some_hurry()};
    for (const Neighbour& n : neighbours) line_up(n);
  }
  if (look_at_all_ || lost || pass_.cursor() != looked_from_) {
    looked_from_ = pass_.cursor();
    for (const PeerKey peer : line_.take_parked()) {
      if (const Neighbour* n = neighbours.find(peer)) line_up(*n);
    }
  }
  look_at_all_ = false;
}

SourcePolicy::Best SourcePolicy::best_of(bool low_worth, const Holdings& holdings,
                                         const Neighbours& neighbours, const Sockets& sockets) {
  for (;;) {
    const PeerKey peer = line_.first(low_worth, sockets.free());
    if (peer == kNoPeer) return {};
    const auto chosen = choose_generation(holdings, *neighbours.find(peer));
    if (chosen) return {peer, *chosen, line_.key(peer)};
    line_.park(peer);
  }
}

// In a large mesh those of low worth get a part of the blocks together, however many they are
// and whenever they come: polluters that all others have banned gather at a source.
std::optional<Choice> SourcePolicy::choose(const Holdings& holdings, const Neighbours& neighbours,
                                           bool small_mesh, const Sockets& sockets, TimeUs now) {
  refresh(neighbours, small_mesh, now);
  const bool others = line_.anybody_wants(false);
  const Best trusted = best_of(false, holdings, neighbours, sockets);
  Best best = trusted;
  bool to_low_worth = false;
  if (!others || for_low_worth_ >= 1) {
    const Best low_worth = best_of(true, holdings, neighbours, sockets);
    to_low_worth = low_worth.peer != kNoPeer &&
                   (!others || trusted.peer == kNoPeer || low_worth.key < trusted.key);
    if (to_low_worth) best = low_worth;
  }
  if (best.peer == kNoPeer) return std::nullopt;
  Choice choice = choice_of(*neighbours.find(best.peer), best.generation, neighbours);
  choice.low_worth = to_low_worth;
  return choice;
}

// Those of low worth are given their part block by block, and what is repeated in the first pass is
// as much as was lost.
std::optional<Choice> SourcePolicy::again(const Choice& last, const Holdings& holdings,
                                          const Neighbours& neighbours) {
  const Neighbour& n = *neighbours.find(last.peer);
  if (last.low_worth || !n.may_send() || n.holds.satisfied()) return std::nullopt;
  const std::uint32_t g = last.generation;
  if (!pass_.over() && (g < pass_.passed() || pass_.whole(g))) return std::nullopt;
  if (!lacks(holdings, n, g)) return std::nullopt;
  return choice_of(n, last.generation, neighbours);
}

Choice SourcePolicy::choice_of(const Neighbour& n, std::uint32_t g, const Neighbours& neighbours) {
  Choice choice;
  choice.peer = n.key;
  choice.generation = g;
  const RemoteGeneration* known = n.holds.partial().find(g);
  choice.plain = known && known->plain;
  if (choice.plain) {
    if (shares_plainly(n, g)) choice.source_index = plain_pass_.due(n, g);
    return choice;
  }
  if (dense_ || n.holds.prefers_coded()) return choice;
  if (pass_.blocks(g) == 0 && next_plain_[g] == 0 && !fresh_everywhere(g, neighbours)) {
    next_plain_[g] = shape_.blocks_in(g);
  }
  if (next_plain_[g] < shape_.blocks_in(g)) choice.source_index = next_plain_[g];
  return choice;
}

// What was asked for plainly is no part of a pass over the generation.
void SourcePolicy::served(const Choice& choice, TimeUs now) {
  for_low_worth_ = choice.low_worth ? std::max(for_low_worth_ - 1, 0.0)
                                    : std::min(for_low_worth_ + kLowWorthPart, kLowWorthAtOnce);
  const std::uint32_t g = choice.generation;
  const bool first = choice.source_index && !circumstances_.small_mesh &&
                     plain_pass_.sent(g, *choice.source_index, choice.peer, now);
  if (choice.plain && !first) return;
  if (choice.source_index && !choice.plain) next_plain_[g] = *choice.source_index + 1;
  if (choice.low_worth) return;
  pass_.served(choice.peer, g);
  lost_rows_.served(g, now);
}

void SourcePolicy::rows_lost(const Neighbours& neighbours) {
  pass_.take_back(neighbours);
  lost_rows_.neighbour_lost(pass_.passed());
}

}  // namespace firn::core::policy
