#include "client/core/view/standstill.h"

#include <algorithm>

#include "client/core/parts.h"

namespace firn::core {

namespace {

// Generations looked at: bounded, as a content may have a million of them and many neighbours.
constexpr std::uint32_t kCompareMax = 65536;

bool could_help(const Neighbour& n, const Holdings& holdings, std::uint32_t g) {
  return n.holds.complete().contains(g) || n.holds.rank(g) > holdings.rank(g);
}

NeighbourStanding standing_of(const Neighbour& n) {
  NeighbourStanding standing;
  standing.id = n.id;
  standing.endpoint = n.contact.endpoint();
  standing.heard_at = n.traffic.heard_at();
  standing.kind = !n.contact.greeted() ? NeighbourStanding::Kind::kNoHello
                  : !n.holds.heard()   ? NeighbourStanding::Kind::kNoState
                                       : NeighbourStanding::Kind::kLacks;
  return standing;
}

// Which generations no neighbour can help with, and which neighbours could send a block.
void compare_holdings(const Holdings& holdings, const Neighbours& neighbours, Standstill& result) {
  std::uint32_t looked = 0;
  for (std::uint32_t g = holdings.settled().next_missing(0);
       g < holdings.generation_count() && looked < kCompareMax;
       g = holdings.settled().next_missing(g + 1), ++looked) {
    const std::uint64_t bytes = holdings.shape().bytes_in_generation(g);
    bool helped = false;
    auto standing = result.neighbours.begin();
    for (const Neighbour& n : neighbours) {
      NeighbourStanding& own = *standing++;
      if (!n.holds.heard()) continue;
      if (n.holds.withdrawn().size() > 0 && n.holds.withdrawn().contains(g))
        own.withdrawn_bytes += bytes;
      if (!could_help(n, holdings, g)) continue;
      own.kind = NeighbourStanding::Kind::kSilent;
      helped = true;
    }
    if (!helped) result.lacking_bytes += bytes;
  }
}

Standstill::Kind kind_of(Parts& parts, const Holdings* holdings, const Standstill& result) {
  using Kind = Standstill::Kind;
  const bool store_behind = holdings && parts.transfer->granting.store_behind();
  const bool limited = holdings && !parts.downlink.ready(parts.context.now);
  if (!result.store_error.empty()) return Kind::kStorePaused;
  if (holdings && holdings->done()) return Kind::kFinishing;
  if (holdings && holdings->missing() == 0) return Kind::kDecoding;
  if (store_behind) return Kind::kStoreBehind;
  if (result.neighbours.empty()) return Kind::kNobody;
  if (limited) return Kind::kLimited;
  if (!holdings) return Kind::kNoManifest;
  const auto has = [&](NeighbourStanding::Kind kind) {
    return std::any_of(result.neighbours.begin(), result.neighbours.end(),
                       [kind](const auto& n) { return n.kind == kind; });
  };
  if (has(NeighbourStanding::Kind::kSilent)) return Kind::kSilent;
  return has(NeighbourStanding::Kind::kLacks) ? Kind::kLacking : Kind::kNoState;
}

}  // namespace

Standstill standstill_of(Parts& parts) {
  const Neighbours& neighbours = parts.membership.neighbours();
  const Holdings* holdings = parts.transfer ? &parts.transfer->generations.holdings() : nullptr;
  Standstill result;
  result.store_error = parts.pressure.error();
  result.trackers = parts.trackers.standings();
  result.addresses = parts.membership.book().standings(Standstill::kAddressesMax);
  for (const Neighbour& n : neighbours) result.neighbours.push_back(standing_of(n));
  if (holdings) compare_holdings(*holdings, neighbours, result);
  result.kind = kind_of(parts, holdings, result);
  return result;
}

}  // namespace firn::core
