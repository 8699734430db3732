// What trust reads, and does not change.
#pragma once

#include "client/core/context.h"
#include "client/core/holdings.h"
#include "client/core/neighbours.h"
#include "client/core/wanted_neighbours.h"

namespace firn::core::trust {

struct World {
  const Context& context;
  const Life& life;
  const Neighbours& neighbours;
  const WantedNeighbours& mesh;  // how large it is
  const Holdings& holdings;
};

}  // namespace firn::core::trust
