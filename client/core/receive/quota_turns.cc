#include "client/core/receive/quota_turns.h"

#include <algorithm>
#include <utility>

#include "client/core/neighbour/grants.h"
#include "client/core/receive/leases.h"

namespace firn::core {

// Generations near their end told anew in a turn, or so many times what came meanwhile [088].
// Half: a source that leaves +3 % [096]; more: bytes of States.
constexpr std::uint32_t kQuotaRefreshes = 4;
constexpr std::uint64_t kQuotaRefreshTimes = 8;

QuotaTurns::QuotaTurns(const MeshPart& mesh, const StorePressure& pressure,
                       Generations& generations)
    : MeshPart(mesh),
      pressure_(pressure),
      generations_(generations),
      turned_at_(life_.began_at()) {}

TimeUs QuotaTurns::interval() const {
  return policy::near_end(generations_, membership_.neighbours()) ? policy::kStateIntervalEnd
                                                                  : policy::kStateInterval;
}

void QuotaTurns::step() {
  if (life_.complete() || generations_.holdings().done()) return;
  const bool several = membership_.neighbours().size() >= 2;
  if (!several && generations_.waiting().empty()) return;
  if (context_.now - turned_at_ < interval()) return;
  turned_at_ = context_.now;
  const Neighbours& neighbours = std::as_const(membership_).neighbours();
  const auto offered = [&neighbours](std::uint32_t g) {
    return std::any_of(neighbours.begin(), neighbours.end(),
                       [g](const Neighbour& n) { return n.holds.heard() && n.holds.rank(g) > 0; });
  };
  if (several) {
    ++turn_;
    tell_near_ends();
    // Shares of lost rows may have gone to neighbours that send nothing, while nothing is open to
    // tell of. A few of these generations at a time, in turn; those that no neighbour has can wait.
    if (!pressure_.paused()) tell(generations_.next_lost(offered, kQuotaRefreshes));
  }
  // What was named when there was memory for it may be what no neighbour wants to send.
  tell(generations_.next_waiting(offered, kQuotaRefreshes, context_.now));
}

TimeUs QuotaTurns::next_due() {
  if (life_.complete() || generations_.holdings().done()) return kNever;
  if (!generations_.waiting().empty()) return turned_at_ + interval();
  if (membership_.neighbours().size() < 2) return kNever;
  if (generations_.holdings().open().empty() && generations_.lost().empty()) return kNever;
  return turned_at_ + interval();
}

void QuotaTurns::tell_near_ends() {
  const Holdings& holdings = generations_.holdings();
  const std::uint64_t has = holdings.total_rank(), came = has - std::min(had_.value_or(has), has);
  had_ = has;
  const std::uint64_t most = std::max<std::uint64_t>(
      kQuotaRefreshes, kQuotaRefreshTimes * came / holdings.generation_size());
  std::uint64_t looked = 0;
  for (const auto& [g, open] : holdings.open()) {
    if (open.decoding) continue;
    if (++looked > most) break;
    const std::uint32_t missing = holdings.blocks_in(g) - open.rows;
    if (missing < membership_.neighbours().size() * kWindowMin) {
      membership_.neighbours().report(g);
    }
  }
}

void QuotaTurns::tell(const std::vector<std::uint32_t>& generations) {
  for (const std::uint32_t g : generations) membership_.neighbours().report(g);
}

}  // namespace firn::core
