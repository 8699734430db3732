// What trust may read, and must not change.
#pragma once

#include "client/core/base/context.h"
#include "client/core/mesh/wanted_neighbours.h"
#include "client/core/neighbour/neighbours.h"
#include "client/core/rows/holdings.h"

namespace firn::core::trust {

struct World {
  const Context& context;
  const Life& life;
  const Neighbours& neighbours;
  const WantedNeighbours& mesh;  // how large it is
  const Holdings& holdings;
};

}  // namespace firn::core::trust
