// What a session waits for before it ends.
#include "client/app/session/departure.h"

#include <doctest/doctest.h>

namespace firn::app {
namespace {

constexpr core::TimeUs kBegan = 7 * core::kSecond;

TEST_CASE("a departure ends when the store has closed and the trackers are told") {
  Departure departure;
  CHECK(departure.next_wake() == core::kNever);
  departure.begin(kBegan);
  CHECK(departure.next_wake() == kBegan + Departure::kTimeMax);
  CHECK_FALSE(departure.over(true, kBegan));
  departure.store_closed();
  CHECK_FALSE(departure.over(false, kBegan));
  CHECK(departure.over(true, kBegan));
}

TEST_CASE("a departure whose time is over waits for nothing, now or later") {
  Departure departure;
  departure.begin(kBegan);
  CHECK_FALSE(departure.over(false, kBegan + Departure::kTimeMax - 1));
  CHECK(departure.over(false, kBegan + Departure::kTimeMax));
  CHECK(departure.next_wake() == core::kNever);
  CHECK(departure.over(false, kBegan + Departure::kTimeMax + 1));
}

}  // namespace
}  // namespace firn::app
