#include "client/core/send/source/lost_rows.h"

#include <algorithm>
#include <bit>

#include "client/core/base/constants.h"

namespace firn::core::policy {

namespace {

constexpr TimeUs kLostRowsReviewEach = kMillisecond / 10;  // more time for many neighbours
constexpr std::uint32_t kLostRowsScanMax = 4096;  // generations looked at in a review, at most

// Of the kWordBits generations from one on, a bit each: what one look at all neighbours tells.
struct Sight {
  std::uint64_t held = 0;    // somebody_has
  std::uint64_t wanted = 0;  // some neighbour does
};

Sight look(const Neighbours& neighbours, std::uint32_t from) {
  Sight sight;
  for (const Neighbour& n : neighbours) {
    if (!n.sink()) sight.held |= n.holds.complete().window(from);
    sight.wanted |= ~n.holds.settled().window(from);
  }
  return sight;
}

}  // namespace

bool somebody_has(const Neighbours& neighbours, std::uint32_t g) {
  return std::any_of(neighbours.begin(), neighbours.end(), [g](const Neighbour& n) {
    return !n.sink() && n.holds.complete().contains(g);
  });
}

// Moves from_ to the lowest generation that is wanted and that no neighbour has in whole.
void LostRows::find_first(const Neighbours& neighbours, std::uint32_t passed) {
  for (std::uint32_t looked = 0; looked < kLostRowsScanMax && from_ < passed; looked += kWordBits) {
    const Sight sight = look(neighbours, from_);
    const auto over = static_cast<std::uint32_t>(std::countr_zero(sight.wanted & ~sight.held));
    const std::uint32_t first = std::min(from_ + over, passed);
    watched_.erase(watched_.begin(), watched_.lower_bound(first));
    from_ = first;
    if (over < kWordBits) break;
  }
}

// Of the generations from from_ on.
LostRows::Ranks LostRows::ranks_until(std::uint32_t end, const Neighbours& neighbours) const {
  Ranks ranks(end - std::min(from_, end));
  for (const Neighbour& n : neighbours) {
    if (n.sink()) continue;
    n.holds.partial().each_in(from_, end, [&](std::uint32_t g, const RemoteGeneration& known) {
      auto& [told, expected] = ranks[g - from_];
      told = std::max<std::uint32_t>(told, known.rank);
      expected = std::max(expected, known.expected_rank());
    });
  }
  return ranks;
}

bool LostRows::review(const Neighbours& neighbours, std::uint32_t passed, bool first_pass,
                      TimeUs now) {
  const auto size = static_cast<TimeUs>(neighbours.size());
  if (now - reviewed_ < std::max(kLostRowsReview, size * kLostRowsReviewEach)) return false;
  reviewed_ = now;
  lost_rows_.clear();
  if (neighbours.size() > seen_) from_ = 0;  // one that came may want what nobody has wanted
  seen_ = neighbours.size();
  find_first(neighbours, passed);
  const std::uint32_t end = std::min(passed, from_ + kWordBits);
  const Sight sight = look(neighbours, from_);
  const Ranks ranks = ranks_until(end, neighbours);
  bool overtaken = false;
  for (std::uint32_t g = end; g-- > from_;) {
    if (sight.held >> (g - from_) & 1) {
      overtaken = true;
      watched_.erase(g);
      continue;
    }
    if (!(sight.wanted >> (g - from_) & 1)) continue;
    const auto [told, expected] = ranks[g - from_];
    Watched& watched = watched_.try_emplace(g, Watched{told, false, now}).first->second;
    if (told > watched.rank) watched = {told, watched.lost, now};
    if (now - watched.since < kStallTime) continue;
    if (first_pass && !overtaken && g >= lost_below_) continue;
    const std::uint32_t blocks = shape_.blocks_in(g);
    watched.lost = expected < blocks;
    if (watched.lost) lost_rows_.push_back({g, blocks - expected});
  }
  std::reverse(lost_rows_.begin(), lost_rows_.end());
  return !lost_rows_.empty();
}

// Other neighbours may lack what it had in whole; which generations none has is found out anew.
void LostRows::neighbour_lost(std::uint32_t passed) {
  lost_below_ = passed;
  from_ = 0;
}

void LostRows::served(std::uint32_t g, TimeUs now) {
  for (Loss& loss : lost_rows_) {
    if (loss.generation != g || loss.rows == 0) continue;
    --loss.rows;
    watched_[g].since = now;  // time for them to arrive and to be told
  }
}

}  // namespace firn::core::policy
