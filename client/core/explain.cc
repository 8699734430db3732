#include "client/core/explain.h"

#include <algorithm>

namespace firn::core {

namespace {

// Generations looked at: bounded, as a content may have a million of them and many neighbours.
constexpr std::uint32_t kLookMax = 65536;

bool wanted(const Holdings& holdings, std::uint32_t g) {
  return !holdings.verified().contains(g) && !holdings.given_up().contains(g);
}

bool could_help(const Neighbour& n, const Holdings& holdings, std::uint32_t g) {
  return n.holds.complete().contains(g) || n.holds.rank(g) > holdings.rank(g);
}

void add_to(std::vector<proto::Span>& spans, std::uint32_t g) {
  if (!spans.empty() && spans.back().first + spans.back().count == g) {
    ++spans.back().count;
  } else if (spans.size() < Standstill::kSpansMax) {
    spans.push_back({g, 1});
  }
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
void compare_holdings(const StandstillView& view, Standstill& result) {
  const Holdings& holdings = *view.holdings;
  std::uint32_t looked = 0;
  for (std::uint32_t g = holdings.verified().next_missing(0);
       g < holdings.generation_count() && looked < kLookMax;
       g = holdings.verified().next_missing(g + 1), ++looked) {
    if (!wanted(holdings, g)) continue;
    bool helped = false;
    auto standing = result.neighbours.begin();
    for (const Neighbour& n : view.neighbours) {
      NeighbourStanding& own = *standing++;
      if (!n.holds.heard()) continue;
      if (n.holds.withdrawn().size() > 0 && n.holds.withdrawn().contains(g))
        add_to(own.withdrawn, g);
      if (!could_help(n, holdings, g)) continue;
      own.kind = NeighbourStanding::Kind::kSilent;
      helped = true;
    }
    if (helped) continue;
    ++result.lacking_count;
    add_to(result.lacking, g);
  }
}

Standstill::Kind kind_of(const StandstillView& view, const Standstill& result) {
  using Kind = Standstill::Kind;
  if (!view.store_error.empty()) return Kind::kStorePaused;
  if (view.holdings && view.holdings->complete()) return Kind::kFinishing;
  if (view.holdings && view.holdings->missing() == 0) return Kind::kDecoding;
  if (view.store_behind) return Kind::kStoreBehind;
  if (view.neighbours.empty()) return Kind::kNobody;
  if (view.limited) return Kind::kLimited;
  if (!view.holdings) return Kind::kNoManifest;
  const auto has = [&](NeighbourStanding::Kind kind) {
    return std::any_of(result.neighbours.begin(), result.neighbours.end(),
                       [kind](const auto& n) { return n.kind == kind; });
  };
  if (has(NeighbourStanding::Kind::kSilent)) return Kind::kSilent;
  return has(NeighbourStanding::Kind::kLacks) ? Kind::kLacking : Kind::kNoState;
}

}  // namespace

Standstill explain(const StandstillView& view) {
  Standstill result;
  result.store_error = view.store_error;
  result.trackers = view.trackers;
  result.addresses = view.book.standings(Standstill::kAddressesMax);
  for (const Neighbour& n : view.neighbours) result.neighbours.push_back(standing_of(n));
  if (view.holdings) compare_holdings(view, result);
  result.kind = kind_of(view, result);
  return result;
}

}  // namespace firn::core
