// How many neighbours a peer has, and whether the swarm is so small that each can know all others.
#pragma once

#include <cstddef>

#include "client/core/types.h"

namespace firn::core::policy {

// What the answers depend on.
struct MeshView {
  std::size_t neighbours = 0;  // connected
  std::size_t told = 0;        // peers of the swarm, as the trackers say, this one among them
  std::size_t met = 0;         // neighbours at a time, in the last minute or two
};

// Neighbours accepted at most.
std::size_t places(const Options& options);
// Whether the rules for full meshes hold.
bool small_mesh(const MeshView& view, const Options& options);
// Neighbours up to which this peer calls others.
std::size_t neighbours_wanted(const MeshView& view, const Options& options);
// Of these, those that it calls itself, however many others call it. None where it wants few.
std::size_t own_calls_wanted(const MeshView& view, const Options& options);

}  // namespace firn::core::policy
