#include "client/core/policy/gaps.h"

#include <algorithm>

#include "client/core/policy/constants.h"

namespace firn::core::policy {

namespace {

bool nobody_wants(const Neighbours& neighbours, std::uint32_t g) {
  return std::none_of(neighbours.begin(), neighbours.end(),
                      [g](const Neighbour& n) { return n.holds.wants(g); });
}

}  // namespace

bool somebody_has(const Neighbours& neighbours, std::uint32_t g) {
  return std::any_of(neighbours.begin(), neighbours.end(), [g](const Neighbour& n) {
    return !n.sink() && n.holds.complete().contains(g);
  });
}

bool Gaps::review(const Neighbours& neighbours, std::uint32_t passed, bool first_pass, TimeUs now) {
  const auto size = static_cast<TimeUs>(neighbours.size());
  if (now - reviewed_ < std::max(kGapReview, size * kGapReviewEach)) return false;
  reviewed_ = now;
  gaps_.clear();
  for (std::uint32_t looked = 0; looked < kGapScanMax && from_ < passed; ++looked) {
    if (!somebody_has(neighbours, from_) && !nobody_wants(neighbours, from_)) break;
    watched_.erase(from_++);
  }
  const std::uint32_t end = std::min(passed, from_ + kScanMax);
  bool overtaken = false;
  for (std::uint32_t g = end; g-- > from_;) {
    if (somebody_has(neighbours, g)) {
      overtaken = true;
      watched_.erase(g);
      continue;
    }
    if (nobody_wants(neighbours, g)) continue;
    std::uint32_t told = 0, expected = 0;
    for (const Neighbour& n : neighbours) {
      const RemoteGeneration* known = n.holds.partial().find(g);
      if (!known || n.sink()) continue;
      told = std::max<std::uint32_t>(told, known->rank);
      expected = std::max(expected, known->expected_rank());
    }
    Watched& watched = watched_.try_emplace(g, Watched{told, now}).first->second;
    if (told > watched.rank) watched = {told, now};
    if (now - watched.since < patience_) continue;
    if (first_pass && !overtaken && g >= lost_below_) continue;
    const std::uint32_t blocks = shape_.blocks_in(g);
    if (expected < blocks) gaps_.push_back({g, blocks - expected});
  }
  std::reverse(gaps_.begin(), gaps_.end());
  return !gaps_.empty();
}

// Other neighbours may lack what it had in whole; which generations none has is found out anew.
void Gaps::neighbour_lost(std::uint32_t passed) {
  lost_below_ = passed;
  from_ = 0;
}

void Gaps::served(std::uint32_t g, TimeUs now) {
  for (Gap& gap : gaps_) {
    if (gap.generation != g || gap.rows == 0) continue;
    --gap.rows;
    watched_[g].since = now;  // time for them to arrive and to be told
  }
}

}  // namespace firn::core::policy
