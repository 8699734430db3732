#include "client/core/receive/holders.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "client/core/base/constants.h"

namespace firn::core::policy {
namespace {

// A sender whose rate is more than kFastSender times the mean rate of the other senders counts as
// several: as many as its rate is times that mean, kFastSenderMax at most.
constexpr double kFastSender = 4;
constexpr double kFastSenderMax = 64;
// Bytes a second; the mean counts as no less. A receiver that gave the others no quota of late gets
// nothing from them, and their rate then says nothing of what they could send.
constexpr double kSlowSender = 4'000;

// For each that holds some of g and is to be counted with, f(claim).
template <typename F>
void each_claim(const Neighbours& neighbours, std::uint32_t g, std::uint32_t turn, bool sifted,
                TimeUs now, F&& f) {
  std::uint32_t next_place = turn;
  for (const Neighbour& n : neighbours) {
    const std::uint32_t place = next_place;
    next_place = place + 1 == neighbours.size() ? 0 : place + 1;
    const std::uint32_t rank = n.holds.rank(g);
    if (sifted && is_suspect(n.regard())) continue;
    if (rank > 0 && !n.grants.stalled(now) && n.useful())
      f(Holders::Claim{rank, place, n.grants.rate(now)});
  }
}

// The weights of holders of equal rank: how many senders each counts as.
class Weights {
 public:
  explicit Weights(std::span<const Holders::Claim> claims) : count_(claims.size()) {
    for (const Holders::Claim& claim : claims) rates_ += claim.rate;
  }
  double of(const Holders::Claim& claim) const {
    if (count_ < 2) return 1;
    const double others = (rates_ - claim.rate) / static_cast<double>(count_ - 1);
    const double times = claim.rate / std::max(others, kSlowSender);
    return times > kFastSender ? std::min(times, kFastSenderMax) : 1;
  }

 private:
  std::size_t count_;
  double rates_ = 0;
};

}  // namespace

std::uint32_t Holders::Share::rows(std::uint32_t missing) const {
  const std::uint32_t each = missing / holders, left = missing % holders;
  if (to == 0) return each + (before < left ? 1 : 0);
  const std::uint32_t more = left > above ? std::min(left - above, equals) : 0;
  const double theirs = equals * each + more;
  // The next holder's `from` is this one's `to`, so that the shares of all add up to `theirs`.
  return static_cast<std::uint32_t>(std::ceil(theirs * to) - std::ceil(theirs * from));
}

// One look at all neighbours: where they are few it costs less than to put them in order.
Holders::Share Holders::share_among_few(const Neighbours& neighbours, std::uint32_t g,
                                        std::uint32_t turn, bool sifted, const Claim& own,
                                        TimeUs now) {
  Share share;
  equals_.clear();
  each_claim(neighbours, g, turn, sifted, now, [&](const Claim& claim) {
    ++share.holders;
    if (claim < own) ++share.before;
    if (claim.rank > own.rank) ++share.above;
    if (claim.rank == own.rank) equals_.push_back(claim);
  });
  share.equals = static_cast<std::uint32_t>(equals_.size());
  const Weights weights(equals_);
  double all = 0, before = 0, until = 0;
  for (const Claim& claim : equals_) {
    const double counts = weights.of(claim);
    all += counts;
    if (claim.place < own.place) before += counts;
    if (claim.place <= own.place) until += counts;
  }
  if (until == before || all == share.equals) return share;
  share.from = before / all;
  share.to = until / all;
  return share;
}

Holders::Share Holders::share(const Neighbours& neighbours, std::uint32_t g, std::uint32_t turn,
                              bool sifted, const Claim& own, TimeUs now) {
  if (neighbours.size() <= kFewToLookAt)
    return share_among_few(neighbours, g, turn, sifted, own, now);
  Share share;
  if (sorted_.size() == kScanMax && !sorted_.contains(g)) sorted_.clear();
  const auto [known, fresh] = sorted_.try_emplace(g);
  if (fresh) known->second = sort(neighbours, g, turn, sifted, now);
  const std::vector<Claim>& claims = known->second.claims;
  const auto at = std::lower_bound(claims.begin(), claims.end(), own);
  const auto index = static_cast<std::size_t>(at - claims.begin());
  share.holders = static_cast<std::uint32_t>(claims.size());
  share.before = static_cast<std::uint32_t>(index);
  if (at == claims.end() || at->rank != own.rank || at->place != own.place) return share;
  const auto first = std::partition_point(
      claims.begin(), at, [&own](const Claim& claim) { return claim.rank > own.rank; });
  const auto end = std::partition_point(
      at, claims.end(), [&own](const Claim& claim) { return claim.rank == own.rank; });
  share.above = static_cast<std::uint32_t>(first - claims.begin());
  share.equals = static_cast<std::uint32_t>(end - first);
  share.from = index == share.above ? 0 : known->second.to[index - 1];
  share.to = known->second.to[index];
  return share;
}

Holders::Sorted Holders::sort(const Neighbours& neighbours, std::uint32_t g, std::uint32_t turn,
                              bool sifted, TimeUs now) const {
  Sorted sorted;
  std::vector<Claim>& claims = sorted.claims;
  each_claim(neighbours, g, turn, sifted, now,
             [&](const Claim& claim) { claims.push_back(claim); });
  std::sort(claims.begin(), claims.end());
  sorted.to.resize(claims.size());
  for (std::size_t first = 0, end = 0; first < claims.size(); first = end) {
    while (end < claims.size() && claims[end].rank == claims[first].rank) ++end;
    const std::span<const Claim> equals(claims.data() + first, end - first);
    const Weights weights(equals);
    double all = 0;
    for (const Claim& claim : equals) all += weights.of(claim);
    if (all == static_cast<double>(equals.size())) continue;
    double until = 0;
    for (std::size_t i = first; i < end; ++i) {
      until += weights.of(claims[i]);
      sorted.to[i] = until / all;
    }
  }
  return sorted;
}

}  // namespace firn::core::policy
