// Which neighbours of a source pass on what they are given.
#include "client/core/send/source/contributions.h"

#include "client/core/send/source/source_policy.h"
#include "tests/core/facts.h"
#include "tests/core/send/source/reported_source.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

TEST_CASE("a neighbour of which nothing reaches the others is worth next to nothing") {
  Reported swarm(8);
  for (int i = 0; i < 10; ++i) swarm.review([](int, int of) { return of == 1 ? 0u : 10u; });
  CHECK(swarm.neighbour(1).worth == facts::kWorthOfSink);
  for (core::PeerKey key = 2; key <= 8; ++key) CHECK(swarm.neighbour(key).worth == 1);
  // It may mend its ways.
  for (int i = 0; i < 30; ++i) swarm.review(kAllPassOn);
  CHECK(swarm.neighbour(1).worth == 1);
}

TEST_CASE("liars below half of the reporters change nothing") {
  Reported swarm(9);  // eight report on each
  const auto liar = [](int by) { return by >= 7; };
  for (int i = 0; i < 10; ++i) {
    swarm.review(
        [&](int by, int of) { return liar(by) ? (of == 1 ? 1000u : 0u) : (of == 1 ? 0u : 10u); });
  }
  CHECK(swarm.neighbour(1).worth == facts::kWorthOfSink);
  for (core::PeerKey key = 2; key <= 6; ++key) CHECK(swarm.neighbour(key).worth == 1);
}

TEST_CASE("while nobody is given enough to be judged by, verdicts stay as they are") {
  Reported swarm(8);
  for (int i = 0; i < 10; ++i) swarm.review([](int, int of) { return of == 1 ? 0u : 10u; });
  REQUIRE(swarm.neighbour(1).worth == facts::kWorthOfSink);
  for (int i = 0; i < 30; ++i) swarm.review([](int, int) { return 0u; }, 0);
  for (int i = 0; i < 30; ++i) {
    swarm.review([](int, int of) { return of == 1 ? 10u : 0u; }, 0);
    CHECK(swarm.neighbour(1).worth == facts::kWorthOfSink);
  }
}

TEST_CASE("in a large mesh, where most do not know a neighbour, reports tell nothing") {
  Reported swarm(facts::kLargeMesh);
  for (int i = 0; i < 10; ++i) swarm.review([](int, int of) { return of % 2 == 0 ? 10u : 0u; });
  for (core::PeerKey key = 1; key <= facts::kLargeMesh; ++key) {
    CHECK(swarm.neighbour(key).worth == 1);
  }
}

TEST_CASE("what was given in a large mesh is not held against anybody in a small one") {
  Reported swarm(facts::kLargeMesh);
  swarm.convict(2, 1, 1);
  for (int i = 0; i < 20; ++i) swarm.review([](int, int) { return 0u; });
  swarm.leave();
  swarm.leave();
  for (int i = 0; i < 3; ++i) swarm.review(kAllPassOn);
  for (core::PeerKey key = 1; key < facts::kLargeMesh - 1; ++key) {
    CHECK(swarm.neighbour(key).worth == 1);
    CHECK_FALSE(swarm.neighbour(key).sink());
  }
}

TEST_CASE("too few reporters tell nothing") {
  Reported swarm(3);  // two report on each
  for (int i = 0; i < 10; ++i) swarm.review([](int, int) { return 0u; });
  for (core::PeerKey key = 1; key <= 3; ++key) CHECK(swarm.neighbour(key).worth == 1);
}

TEST_CASE("a newcomer is not judged before its rows can have arrived") {
  Reported swarm(8);
  const auto all_but_one = [](int, int of) { return of == 1 ? 0u : 10u; };
  for (int i = 0; i < 2; ++i) swarm.review(all_but_one);
  CHECK(swarm.neighbour(1).worth == 1);
  swarm.review(all_but_one);
  CHECK(swarm.neighbour(1).worth == facts::kWorthOfSink);
}

TEST_CASE("on a long path a newcomer has five round trips and a report, within bounds") {
  const auto reviews_until_judged = [](TimeUs round_trip) {
    Reported swarm(8);
    swarm.neighbour(1).grants.set_path(round_trip);
    int reviews = 0;
    while (swarm.neighbour(1).worth == 1 && reviews < 20) {
      swarm.review([](int, int of) { return of == 1 ? 0u : 10u; });
      ++reviews;
    }
    return reviews;
  };
  // The first review is at once; these come each second.
  CHECK(reviews_until_judged(200 * kMillisecond) == 1 + 2);
  CHECK(reviews_until_judged(500 * kMillisecond) == 1 + 4);
  CHECK(reviews_until_judged(900 * kMillisecond) == 1 + 4);
}

TEST_CASE("where too little is given to judge by, nobody is") {
  Reported swarm(8);
  swarm.at_once = 1;
  for (int i = 0; i < 40; ++i) {
    swarm.review([](int, int of) { return of == 1 ? 0u : 1u; }, i % 2 == 0 ? 8 : 0);
  }
  CHECK(swarm.neighbour(1).worth == 1);
}

TEST_CASE("one that comes when others are judged begins with a quarter, until it is judged") {
  Reported swarm(8);
  core::Neighbour& early = swarm.join();
  for (int i = 0; i < 5; ++i) {
    swarm.review(kAllPassOn);
    CHECK(early.worth == 1);
  }
  core::Neighbour& late = swarm.join();
  swarm.review(kAllPassOn);
  CHECK(late.worth == facts::kWorthOfNewcomer);
  CHECK_FALSE(late.sink());
  for (int i = 0; i < 4; ++i) swarm.review(kAllPassOn);
  CHECK(late.worth == 1);
  for (core::PeerKey key = 1; key <= 9; ++key) CHECK(swarm.neighbour(key).worth == 1);
}

TEST_CASE("a late one that passes nothing on stays at next to nothing") {
  Reported swarm(8);
  for (int i = 0; i < 5; ++i) swarm.review(kAllPassOn);
  core::Neighbour& late = swarm.join();
  const auto all_but_it = [](int, int of) { return of == 9 ? 0u : 10u; };
  for (int i = 0; i < 5; ++i) swarm.review(all_but_it);
  CHECK(late.worth == facts::kWorthOfSink);
  // It is given nothing any more, and passes nothing on that could clear it.
  for (int i = 0; i < 30; ++i) {
    CHECK_FALSE(swarm.review(all_but_it, 8));
    CHECK(late.worth == facts::kWorthOfSink);
  }
}

TEST_CASE(
    "a sink that is given too little to judge by is cleared by what it passes on, while it does") {
  Reported swarm(9);
  const auto all_but_it = [](int, int of) { return of == 9 ? 0u : 10u; };
  for (int i = 0; i < 5; ++i) swarm.review(all_but_it);
  for (int i = 0; i < 30; ++i) swarm.review(all_but_it, 8);
  CHECK(swarm.neighbour(9).worth == facts::kWorthOfSink);
  for (int i = 0; i < 3; ++i) swarm.review([](int, int of) { return of == 9 ? 1u : 10u; }, 8);
  CHECK(swarm.neighbour(9).worth == 1);
  // Nothing of what it was given is lost, so nobody hears of it when it ceases to.
  for (int i = 0; i < 10; ++i) CHECK_FALSE(swarm.review(all_but_it, 8));
  CHECK(swarm.neighbour(9).worth == facts::kWorthOfSink);
}

TEST_CASE("sinks that are given too little to judge by still count for what is usual") {
  Reported swarm(12);  // two pass all on, four a fifth, six nothing
  const auto says = [](int, int of) { return of <= 2 ? 10u : of <= 6 ? 2u : 0u; };
  for (int i = 0; i < 5; ++i) swarm.review(says);
  for (int i = 0; i < 40; ++i) swarm.review(says, 6);
  for (core::PeerKey key = 1; key <= 6; ++key) CHECK(swarm.neighbour(key).worth == 1);
  for (core::PeerKey key = 7; key <= 12; ++key) CHECK(swarm.neighbour(key).sink());
}

TEST_CASE("where all but one pass nothing on, they are taken for sinks once that has lasted") {
  Reported swarm(8);
  const auto first_alone = [](int, int of) { return of == 1 ? 10u : 0u; };
  for (int i = 0; i < 4; ++i) swarm.review(first_alone);  // judged from the third on
  for (core::PeerKey key = 1; key <= 8; ++key) CHECK(swarm.neighbour(key).worth == 1);
  CHECK(swarm.review(first_alone));
  CHECK(swarm.neighbour(1).worth == 1);
  for (core::PeerKey key = 2; key <= 8; ++key) CHECK(swarm.neighbour(key).sink());
}

TEST_CASE("where they are three quarters in the end, sinks stay sinks") {
  Reported swarm(12);
  const auto says = [](int, int of) { return of <= 6 ? 0u : 10u; };
  for (int i = 0; i < 5; ++i) swarm.review(says);
  swarm.given_from = 7;
  for (int i = 0; i < 10; ++i) swarm.review(says);
  for (int i = 0; i < 4; ++i) swarm.leave();
  for (int i = 0; i < 10; ++i) swarm.review(says);
  for (core::PeerKey key = 1; key <= 6; ++key) CHECK(swarm.neighbour(key).sink());
}

TEST_CASE("one block in ten seconds gains a sink little") {
  Reported swarm(9);
  for (int i = 0; i < 5; ++i) swarm.review([](int, int of) { return of == 9 ? 0u : 10u; });
  double worth = 0;
  for (int i = 0; i < 60; ++i) {
    CHECK_FALSE(
        swarm.review([&](int, int of) { return of == 9 ? (i % 10 == 0 ? 1u : 0u) : 10u; }, 8));
    worth += swarm.neighbour(9).worth / 60;
  }
  CHECK(worth < 0.125);
}

TEST_CASE("one that is given nothing and passes nothing on keeps its verdict") {
  Reported swarm(9);
  for (int i = 0; i < 5; ++i) swarm.review(kAllPassOn);
  for (int i = 0; i < 60; ++i) {
    CHECK_FALSE(swarm.review([](int, int of) { return of == 9 ? 0u : 10u; }, 8));
  }
  CHECK(swarm.neighbour(9).worth == 1);
}

TEST_CASE("what one passes on while it is given nothing is not saved up") {
  Reported swarm(9);
  for (int i = 0; i < 5; ++i) swarm.review(kAllPassOn);
  for (int i = 0; i < 60; ++i) swarm.review(kAllPassOn, 8);
  CHECK(swarm.neighbour(9).worth == 1);
  for (int i = 0; i < 12; ++i) swarm.review([](int, int of) { return of == 9 ? 0u : 10u; });
  CHECK(swarm.neighbour(9).sink());
}

TEST_CASE("a newcomer that cannot be judged for long counts like the others") {
  Reported swarm(8);
  for (int i = 0; i < 5; ++i) swarm.review(kAllPassOn);
  core::Neighbour& late = swarm.join();
  swarm.review(kAllPassOn, 8);
  CHECK(late.worth == facts::kWorthOfNewcomer);
  for (int i = 0; i < 15; ++i) swarm.review(kAllPassOn, 8);
  CHECK(late.worth == 1);
}

TEST_CASE("a row's worth falls steeply below half of what is usually passed on, within bounds") {
  const double least = policy::worth_of(0, 1);
  CHECK(least > 0);
  CHECK(least < 0.1);
  CHECK(policy::worth_of(0.25, 1) > least);
  CHECK(policy::worth_of(0.25, 1) < 0.5);
  CHECK(policy::worth_of(0.5, 1) == 1);
  CHECK(policy::worth_of(3, 1) == 1);
  CHECK(policy::worth_of(0.5, 3) == 1);
  CHECK(policy::worth_of(0.05, 0.1) == 1);  // the source is faster than all relays together
  CHECK(policy::worth_of(0, 0) == 1);
}

TEST_CASE("peers that others have banned say nothing, though they reported once") {
  Reported swarm(12);
  const auto bad = [](int peer) { return peer <= 6; };
  for (int i = 0; i < 3; ++i) swarm.review(kAllPassOn);
  for (int i = 0; i < 20; ++i) {
    swarm.review([&](int by, int of) { return bad(by) || bad(of) ? 0u : 10u; });
  }
  for (core::PeerKey key = 1; key <= 12; ++key) {
    CHECK(swarm.neighbour(key).sink() == bad(static_cast<int>(key)));
    if (!bad(static_cast<int>(key))) CHECK(swarm.neighbour(key).worth == 1);
  }
}

TEST_CASE(
    "half of the reporters praise each other for rows that they cannot have: nobody hears them") {
  Reported swarm(12);
  const auto liar = [](int peer) { return peer >= 7; };
  for (int i = 0; i < 10; ++i) {
    swarm.review([&](int by, int of) { return liar(of) == liar(by) ? (liar(by) ? 50u : 10u) : 0u; },
                 255, 7);
  }
  for (core::PeerKey key = 1; key <= 12; ++key) {
    CHECK(swarm.neighbour(key).sink() == liar(static_cast<int>(key)));
  }
}

TEST_CASE("a reporter is heard as far as its rank allows") {
  core::Reporter reporter;
  core::Neighbour n(1, peer_id(1), "192.0.2.1", 4000, false, 0);
  n.holds.set_shape(Reported::vouched().info.shape);
  const auto rank = [&](std::uint32_t rows) {
    proto::State state;
    state.complete = {{0, rows / Reported::kRows}};
    REQUIRE(n.apply_state(std::move(state)));
  };
  rank(10 * Reported::kRows);
  CHECK_FALSE(reporter.speaks(n, 0, 0.8));  // nothing has reached it
  rank(20 * Reported::kRows);
  CHECK(reporter.speaks(n, 10 * Reported::kRows, 0.8));
  rank(21 * Reported::kRows);
  CHECK_FALSE(reporter.speaks(n, 10 * Reported::kRows, 0.8));
}

TEST_CASE("praise in leaps does not count afterwards") {
  Reported swarm(12);
  const auto liar = [](int peer) { return peer >= 7; };
  for (int i = 0; i < 40; ++i) {
    const bool leap = i % 14 == 13;
    swarm.review(
        [&](int by, int of) {
          if (!liar(by)) return liar(of) ? 0u : 10u;
          return liar(of) ? (leap ? 10'000u : 1u) : 0u;
        },
        255, 7);
    if (i < 13) continue;
    for (core::PeerKey key = 1; key <= 6; ++key) CHECK_FALSE(swarm.neighbour(key).sink());
    for (core::PeerKey key = 7; key <= 12; ++key) CHECK(swarm.neighbour(key).worth < 0.5);
  }
}

TEST_CASE("a source hears once that a neighbour turned out to be a sink") {
  Reported swarm(8);
  int found = 0;
  for (int i = 0; i < 20; ++i)
    found += swarm.review([](int, int of) { return of == 1 ? 0u : 10u; });
  CHECK(found == 1);
}

TEST_CASE("one whose network took and passed nothing on waits longer, with next to nothing") {
  // Reviews in which it keeps the worth of a newcomer, while it is given nothing.
  const auto waits = [](std::uint32_t barren) {
    Reported swarm(8);
    for (int i = 0; i < 5; ++i) swarm.review(kAllPassOn);
    core::Neighbour& late = swarm.join(barren);
    if (barren > 0) CHECK(late.sink());
    int reviews = 0;
    for (; late.worth < 1 && reviews < 1000; ++reviews) {
      swarm.review(kAllPassOn, 8);
      if (barren > 0 && late.worth < 1) CHECK(late.sink());
    }
    return reviews;
  };
  const int usual = waits(0), longer = waits(2);
  CHECK(usual > 1);
  CHECK(longer > 2 * usual);
  CHECK(longer < 1000);
}
