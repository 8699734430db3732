// What a source makes of neighbours that others say they have convicted.
#include "client/core/send/source/contributions.h"

#include "tests/core/facts.h"
#include "tests/core/send/source/reported_source.h"

using namespace firn;
using namespace firn::test;

TEST_CASE("in a large mesh called neighbours are believed when half of them accuse another") {
  const std::uint8_t peers = facts::kLargeMesh, accused = peers, called = 4;
  const auto worth_after = [&](int accusers, bool called_ones) {
    Reported swarm(peers, called);
    for (int i = 1; i <= accusers; ++i) {
      const auto by = static_cast<std::uint8_t>(called_ones ? i : called + i);
      swarm.convict(accused, by, by);
    }
    swarm.review(kAllPassOn);
    CHECK(swarm.neighbour(called).worth == 1);
    return swarm.neighbour(accused).worth;
  };
  CHECK(worth_after(0, true) == 1);
  const double doubted = worth_after(1, true), convicted = worth_after(2, true);
  CHECK(doubted < 1);
  CHECK(convicted < doubted);
  CHECK(worth_after(8, false) == 1);  // they called us
}
