// How many neighbours a peer has, and when a swarm counts as small.
#include "client/core/mesh/neighbour_count.h"

#include <doctest/doctest.h>

#include "tests/core/facts.h"

using namespace firn;
using namespace firn::core;
namespace facts = test::facts;

TEST_CASE("a swarm is small while neither neighbours nor trackers tell of more than a full mesh") {
  Options options;
  options.neighbours_max = 1000;
  CHECK(small_mesh({0, 0}, options));
  constexpr std::uint32_t kLarge = facts::kLargeMesh;
  CHECK(small_mesh({kLarge - 1, 0}, options));
  CHECK_FALSE(small_mesh({kLarge, 0}, options));
  CHECK(small_mesh({3, kLarge}, options));  // it counts us
  CHECK_FALSE(small_mesh({3, kLarge + 1}, options));
  CHECK(small_mesh({3, 4, kLarge - 1}, options));
  CHECK_FALSE(small_mesh({kLarge - 1, 4, kLarge}, options));
}

TEST_CASE("a peer with few places takes its swarm for large, unless a tracker knows of no more") {
  Options options;
  options.neighbours_max = 8;
  CHECK(places(options) == 8);
  CHECK(small_mesh({7, 0}, options));
  CHECK_FALSE(small_mesh({8, 0}, options));  // others may have been turned away
  CHECK_FALSE(small_mesh({8, 8}, options));
  CHECK(small_mesh({8, 9}, options));         // we and these eight
  CHECK_FALSE(small_mesh({8, 10}, options));  // more than there are places
}

TEST_CASE("a peer calls others until it has as many neighbours as it wants, and has places") {
  Options options;
  options.neighbours_max = 1000;
  CHECK(neighbours_wanted({0, 0}, options) == facts::kLargeMesh);
  CHECK(neighbours_wanted({0, 1000}, options) == facts::kWanted);
  options.neighbours_max = 0;
  options.neighbours_wanted = 4;
  CHECK(neighbours_wanted({0, 1000}, options) == 4);
  CHECK(places(options) > 4);
  CHECK(places(options) < facts::kPlaces);
  options.neighbours_max = 3;
  CHECK(neighbours_wanted({0, 1000}, options) == 3);
}

TEST_CASE("the highest value is known for a minute at least, and for two at most") {
  for (const TimeUs since_window : {TimeUs{0}, 10 * kSecond, 59 * kSecond}) {
    RecentMost most;
    CHECK(most.get(100 * kSecond) == 0);
    most.see(1, 100 * kSecond);
    const TimeUs then = 100 * kSecond + since_window;
    most.see(30, then);
    for (TimeUs later = 0; later < RecentMost::kWindow; later += 5 * kSecond) {
      most.see(6, then + later);
      CHECK(most.get(then + later) == 30);
    }
    for (TimeUs later = RecentMost::kWindow; later <= 2 * RecentMost::kWindow; later += 5 * kSecond)
      most.see(6, then + later);
    CHECK(most.get(then + 2 * RecentMost::kWindow) == 6);
    CHECK(most.get(then + 5 * RecentMost::kWindow) == 0);
  }
}
