#include "client/core/wanted_neighbours.h"

#include <algorithm>

#include "client/core/policy/constants.h"

namespace firn::core {

// A tracker may have told before others came. Those that were parted with since are still about.
policy::MeshView WantedNeighbours::mesh() const {
  const std::size_t most = policy::places(context_.options);  // one more may be there for a moment
  return {std::min(neighbours_.size(), most), trackers_.swarm_told(), met_.get(context_.now)};
}

std::size_t WantedNeighbours::swarm_size() const {
  const policy::MeshView seen = mesh();
  return std::max({seen.told, seen.met + 1, neighbours_.size() + 1});
}

bool WantedNeighbours::crowded() const {
  return neighbours_.size() >= policy::neighbours_wanted(mesh(), context_.options);
}

std::size_t WantedNeighbours::wanted() const {
  const std::size_t wanted = policy::neighbours_wanted(mesh(), context_.options);
  if (!hunger_.calls_more()) return wanted;
  return std::min(policy::kHungerNeighbours * wanted, policy::places(context_.options));
}

bool WantedNeighbours::called_enough() const {
  return neighbours_.size() + book_.dialing() >= wanted();
}

// Those that call may all be of one hand. A peer that has everything is harmed by none of that.
std::size_t WantedNeighbours::own_calls() const {
  return life_.complete() ? 0 : policy::own_calls_wanted(mesh(), context_.options);
}

std::size_t WantedNeighbours::own_calls_missing() const {
  const std::size_t own = own_calls();
  return own - std::min(own, neighbours_.called().size());
}

std::size_t WantedNeighbours::places_for(bool called) const {
  const std::size_t places = policy::places(context_.options), missing = own_calls_missing();
  if (called) return missing > 0 ? places + 1 : places;
  if (missing == 0 || neighbours_.size() + missing < places) return places;
  const std::size_t dialing = std::min<std::size_t>(book_.dialing(), missing);
  return places - dialing - book_.promising(context_.now, missing - dialing);
}

bool WantedNeighbours::too_many() const {
  return neighbours_.size() > policy::places(context_.options);
}

// At first only half of those wanted are called in a large mesh: the others will call us.
bool WantedNeighbours::wants_to_dial() const {
  const bool hungry = hunger_.calls_more();
  const std::size_t dialing = book_.dialing();
  if (dialing >= (hungry ? policy::kHungerDialsAtOnce : policy::kDialsAtOnce)) return false;
  if (called_enough()) return context_.now >= own_call_at_ && dialing < own_calls_missing();
  if (hungry || small_mesh() || context_.now - life_.began_at() >= policy::kMeshTime) return true;
  return dialing + neighbours_.called().size() < (wanted() + 1) / 2;
}

}  // namespace firn::core
