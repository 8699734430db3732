#include "client/core/recent_most.h"

#include <doctest/doctest.h>

using namespace firn::core;

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
