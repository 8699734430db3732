#include "client/core/policy/relay_line.h"

namespace firn::core::policy {

void RelayLine::count(const Place& place, int by) {
  few_ += static_cast<std::size_t>(place.needed ? by : 0);
  wanting_ += static_cast<std::size_t>(place.wants && !place.last ? by : 0);
}

void RelayLine::update(PeerKey peer, const Place& next) {
  Place& place = places_[peer];
  if (next == place) return;
  count(place, -1);
  if (in_line(place)) lines_[line_of(place)].erase({place.turn, peer});
  count(next, 1);
  if (in_line(next)) lines_[line_of(next)].emplace(next.turn, peer);
  place = next;
}

void RelayLine::leaves(PeerKey peer) {
  if (!places_.contains(peer)) return;
  update(peer, {});
  places_.erase(peer);
}

void RelayLine::park(PeerKey peer) {
  Place parked = places_.at(peer);
  parked.where = Where::kParked;
  update(peer, parked);
}

PeerKey RelayLine::first(const Terms& terms) const {
  PeerKey best = kNoPeer;
  std::pair<bool, std::uint64_t> least;
  for (const auto& line : lines_) {
    if (line.empty()) continue;
    const auto& [turn, peer] = *line.begin();
    const Place& place = places_.at(peer);
    if (place.where == Where::kIdle && !terms.idle_too) continue;
    const bool behind = (place.last && terms.last_behind) || (place.takes && terms.takers_behind);
    const std::pair key{behind, place.few ? turn : turn + terms.few_ahead};
    if (best != kNoPeer && key >= least) continue;
    best = peer;
    least = key;
  }
  return best;
}

}  // namespace firn::core::policy
