// Honest swarms need no trust: with tests/core/trust_everybody.cc in place of client/core/trust all
// peers complete.
#include <doctest/doctest.h>

#include "tests/sim/lab/lab.h"

using namespace firn::sim;

TEST_CASE(
    "a core that believes everybody completes an honest download, in small and large meshes") {
  for (const std::size_t peers : {6u, 30u}) {
    CAPTURE(peers);
    Lab lab(8, 32, 16384, 1);
    LabPeerSpec spec;
    spec.source = true;
    lab.add(spec);
    spec.source = false;
    for (std::size_t i = 0; i < peers; ++i) lab.add(spec);
    CHECK(lab.run(60'000'000));
    for (std::size_t i = 1; i <= peers; ++i) CHECK(lab.report(i).generations_verified == 8);
  }
}
