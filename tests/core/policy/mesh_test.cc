// How many neighbours a peer has, and when a swarm counts as small.
#include "client/core/policy/mesh.h"

#include <doctest/doctest.h>

#include "client/core/policy/constants.h"

using namespace firn;
using namespace firn::core;

TEST_CASE("a swarm is small while neither neighbours nor trackers tell of more than a full mesh") {
  const Options options;
  CHECK(policy::small_mesh({0, 0}, options));
  CHECK(policy::small_mesh({policy::kSmallMesh, 0}, options));
  CHECK_FALSE(policy::small_mesh({policy::kSmallMesh + 1, 0}, options));
  CHECK(policy::small_mesh({3, policy::kSmallMesh + 1}, options));  // it counts us
  CHECK_FALSE(policy::small_mesh({3, policy::kSmallMesh + 2}, options));
  CHECK(policy::small_mesh({3, 4, policy::kSmallMesh}, options));
  CHECK_FALSE(policy::small_mesh({policy::kSmallMesh, 4, policy::kSmallMesh + 1}, options));
}

TEST_CASE("a peer with few places takes its swarm for large, unless a tracker knows of no more") {
  Options options;
  options.neighbours_max = 8;
  CHECK(policy::places(options) == 8);
  CHECK(policy::small_mesh({7, 0}, options));
  CHECK_FALSE(policy::small_mesh({8, 0}, options));  // others may have been turned away
  CHECK_FALSE(policy::small_mesh({8, 8}, options));
  CHECK(policy::small_mesh({8, 9}, options));         // we and these eight
  CHECK_FALSE(policy::small_mesh({8, 10}, options));  // more than there are places
}

TEST_CASE("a peer calls others until it has as many neighbours as it wants, and has places") {
  Options options;
  CHECK(policy::neighbours_wanted({0, 0}, options) == policy::kSmallMesh + 1);
  CHECK(policy::neighbours_wanted({0, 1000}, options) == policy::kNeighboursWanted);
  options.neighbours_wanted = 6;
  CHECK(policy::neighbours_wanted({0, 1000}, options) == 6);
  CHECK(policy::places(options) == 6 * policy::kNeighboursMax / policy::kNeighboursWanted);
  options.neighbours_max = 4;
  CHECK(policy::neighbours_wanted({0, 1000}, options) == 4);
}
