#include "client/core/policy/mesh.h"

#include <algorithm>

#include "client/core/policy/constants.h"

namespace firn::core::policy {

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

std::size_t own_calls_wanted(const MeshView& view, const Options& options) {
  return neighbours_wanted(view, options) / kOwnCallsShare;
}

}  // namespace firn::core::policy
