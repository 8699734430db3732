#include "client/core/mesh/neighbour_count.h"

#include "client/core/base/constants.h"

namespace firn::core {

// A peer that starves (kStarvingTime) looks for addresses to call once per kStarvingReview and
// wants kStarvingNeighbours times as many neighbours. A call without an answer takes 10 s, so it
// has kStarvingCallsAtOnce under way.
constexpr TimeUs kStarvingReview = 500 * kMillisecond;
constexpr std::uint32_t kStarvingNeighbours = 2;
constexpr std::uint32_t kStarvingCallsAtOnce = 32;

// --- as the swarm is ---

std::size_t places(const Options& options) {
  if (options.neighbours_max > 0) return options.neighbours_max;
  if (options.neighbours_wanted == 0) return kNeighboursMax;
  return std::size_t{options.neighbours_wanted} * kNeighboursMax / kNeighboursWanted;
}

// A peer whose places are all taken may have turned others away, so there it takes a tracker that
// knows of no more. Of 16 peers that take 12, 8, 4 neighbours at most, 32 MiB: by these rules 1.15,
// 1.40, 1.58, by those for large meshes 1.08, 1.35, 1.20 of the bound; of 100 peers with 8 at most
// 1.23, 1.14.
bool small_mesh(const MeshView& view, const Options& options) {
  const std::size_t most = places(options);
  std::size_t others = view.neighbours;
  const bool full = others >= most;
  if (view.told > others) others = view.told - 1;  // it counts us
  if (others > most || (full && view.told <= most)) return false;
  return std::max(others, view.met) <= kSmallMesh;
}

// One more than a small mesh has shows that the mesh is none.
std::size_t neighbours_wanted(const MeshView& view, const Options& options) {
  std::size_t wanted = small_mesh(view, options) ? kSmallMesh + 1 : kNeighboursWanted;
  if (options.neighbours_wanted > 0) wanted = options.neighbours_wanted;
  return std::min(wanted, places(options));
}

// A tracker may have told before others came. Those that were parted with since are still about.
MeshView NeighbourCount::mesh() const {
  const std::size_t most = places(context_.options);  // one more may be there for a moment
  return {std::min(neighbours_.size(), most), trackers_.swarm_told(), met_.get(context_.now)};
}

std::size_t NeighbourCount::swarm_size() const {
  const MeshView seen = mesh();
  return std::max({seen.told, seen.met + 1, neighbours_.size() + 1});
}

// --- where it starves ---

TimeUs NeighbourCount::starves_at() const {
  if (life_.finishing() || life_.stopped()) return kNever;
  return life_.progressed_at() + kStarvingTime;
}

bool NeighbourCount::review() {
  if (!starves()) {
    calls_more_ = false;
    return false;
  }
  if (context_.now < look_at_) return false;
  look_at_ = context_.now + kStarvingReview;
  calls_more_ = book_.has_untried(context_.now);
  return calls_more_;
}

// Where there is nobody left to call, what makes a new address due wakes the core anyway.
TimeUs NeighbourCount::next_due() const {
  const TimeUs at = starves_at();
  const TimeUs looks = !starves() ? at : calls_more_ ? std::max(at, look_at_) : kNever;
  return context_.now < own_call_at_ ? std::min(looks, own_call_at_) : looks;
}

// --- calling ---

bool NeighbourCount::crowded() const {
  return neighbours_.size() >= neighbours_wanted(mesh(), context_.options);
}

std::size_t NeighbourCount::wanted() const {
  const std::size_t wanted = neighbours_wanted(mesh(), context_.options);
  if (!calls_more_) return wanted;
  return std::min(kStarvingNeighbours * wanted, places(context_.options));
}

bool NeighbourCount::called_enough() const {
  const std::size_t calling = book_.calling();
  if (neighbours_.size() + calling >= places(context_.options)) return true;
  return neighbours_.size() - neighbours_.strangers() + calling >= wanted();
}

// Of those it wants, however many others call it; none where it wants few. Those that call may all
// be of one hand. A peer that has everything is harmed by none of that.
std::size_t NeighbourCount::own_calls() const {
  if (life_.complete()) return 0;
  return neighbours_wanted(mesh(), context_.options) / kOwnCallsShare;
}

std::size_t NeighbourCount::own_calls_missing() const {
  const std::size_t own = own_calls();
  return own - std::min(own, neighbours_.called().size());
}

std::size_t NeighbourCount::places_for(bool called) const {
  const std::size_t most = places(context_.options), missing = own_calls_missing();
  if (called) return missing > 0 ? most + 1 : most;
  if (missing == 0 || neighbours_.size() + missing < most) return most;
  const std::size_t calling = std::min<std::size_t>(book_.calling(), missing);
  return most - calling - book_.promising(context_.now, missing - calling);
}

// At first only half of those wanted are called in a large mesh: the others will call us.
bool NeighbourCount::wants_to_call() const {
  const std::size_t calling = book_.calling();
  if (calling >= (calls_more_ ? kStarvingCallsAtOnce : kCallsAtOnce)) return false;
  if (called_enough()) return context_.now >= own_call_at_ && calling < own_calls_missing();
  const bool mesh_stands = context_.now - life_.began_at() >= kMeshTime;
  if (calls_more_ || small_mesh() || mesh_stands) return true;
  return calling + neighbours_.called().size() < (wanted() + 1) / 2;
}

}  // namespace firn::core
