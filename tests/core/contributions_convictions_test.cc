// What a source makes of neighbours that others say they have convicted.
#include "client/core/contributions.h"

#include "client/core/policy/constants.h"
#include "tests/core/reported_source.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

// It passed everything on until then, and that counts for seconds.
TEST_CASE("a neighbour that most reporters have convicted is worth next to nothing at once") {
  Reported swarm(11);
  for (int i = 0; i < 5; ++i) swarm.review(kAllPassOn);
  swarm.convict(1, 2, 7);  // six of ten others
  CHECK_FALSE(swarm.review(kAllPassOn));
  CHECK(swarm.neighbour(1).worth == 1);
  swarm.convict(1, 8, 8);
  CHECK(swarm.review(kAllPassOn));
  CHECK(swarm.neighbour(1).worth == policy::kWorthMin);
  for (core::PeerKey key = 2; key <= 11; ++key) CHECK(swarm.neighbour(key).worth == 1);
  // It is told once.
  const auto nothing_of_one = [](int, int of) { return of == 1 ? 0u : 10u; };
  for (int i = 0; i < 20; ++i) {
    CHECK_FALSE(swarm.review(nothing_of_one));
    CHECK(swarm.neighbour(1).worth == policy::kWorthMin);
  }
  swarm.acquit();
  CHECK_FALSE(swarm.review(nothing_of_one));
  CHECK(swarm.neighbour(1).worth == 1);
  // What it is given from now on needs its time, as that of a newcomer.
  CHECK_FALSE(swarm.review(nothing_of_one));
  CHECK(swarm.neighbour(1).worth == 1);
}

TEST_CASE("one that is convicted before it could be judged is told of once") {
  Reported swarm(8);
  swarm.convict(1, 2, 8);
  CHECK_FALSE(swarm.review(kAllPassOn, 0));  // nothing has come to anybody before
  CHECK(swarm.review(kAllPassOn, 0));
  for (int i = 0; i < 30; ++i) {
    CHECK_FALSE(swarm.review(kAllPassOn, 0));
    CHECK(swarm.neighbour(1).worth == policy::kWorthMin);
  }
}

TEST_CASE("a convicted neighbour is worth next to nothing while a reporter still accuses it") {
  Reported swarm(11);
  for (int i = 0; i < 5; ++i) swarm.review(kAllPassOn);
  swarm.convict(1, 2, 11);
  for (int i = 0; i < 2; ++i) swarm.review(kAllPassOn);
  REQUIRE(swarm.neighbour(1).worth == policy::kWorthMin);
  swarm.acquit();
  swarm.convict(1, 2, 2);
  for (int i = 0; i < 20; ++i) {
    CHECK_FALSE(swarm.review(kAllPassOn));
    CHECK(swarm.neighbour(1).worth == policy::kWorthMin);
  }
  swarm.acquit();
  for (int i = 0; i < 2; ++i) swarm.review(kAllPassOn);
  CHECK(swarm.neighbour(1).worth == 1);
}

TEST_CASE("what convicted neighbours passed on before is no measure for others") {
  Reported swarm(8);
  const auto three_do_well = [](int, int of) { return of >= 6 ? 10u : 3u; };
  for (int i = 0; i < 10; ++i) swarm.review(three_do_well);
  REQUIRE(swarm.neighbour(1).worth < 1);
  for (std::uint8_t guilty = 6; guilty <= 8; ++guilty) {
    swarm.convict(guilty, 1, 5);
    for (int i = 0; i < 2; ++i) swarm.review(three_do_well, 5);  // no more for them
    CHECK(swarm.neighbour(guilty).worth == policy::kWorthMin);
  }
  for (core::PeerKey key = 1; key <= 5; ++key) CHECK(swarm.neighbour(key).worth == 1);
}

TEST_CASE("two of three reporters convict nobody") {
  Reported swarm(3);
  swarm.convict(1, 2, 3);
  for (int i = 0; i < 5; ++i) {
    CHECK_FALSE(swarm.review(kAllPassOn));
    CHECK(swarm.neighbour(1).worth == 1);
  }
}

TEST_CASE("in a large mesh called neighbours are believed when half of them accuse another") {
  const std::uint8_t peers = policy::kSmallMesh + 1, accused = peers, called = 4;
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
  CHECK(worth_after(1, true) == policy::kDoubtedWorth);
  CHECK(worth_after(2, true) == policy::kWorthMin);
  CHECK(worth_after(8, false) == 1);  // they called us
}
