#include "tests/load/seconds.h"

#include <doctest/doctest.h>

namespace firn::load {
namespace {

// Ten blocks a second, over four seconds from 10 s on.
constexpr Measurement kMeasurement{10 * kSecond, 14 * kSecond};

Seconds of_ten() {
  return Seconds(kMeasurement, 10'000, 1'000);
}

void blocks(Seconds& seconds, TimeUs from, int count) {
  for (int i = 0; i < count; ++i) seconds.block(from + i * kSecond / 100);
}

TEST_CASE("a receiver that gets its rate has no short second") {
  Seconds seconds = of_ten();
  seconds.begin(9 * kSecond);
  for (TimeUs at = 10; at < 14; ++at) blocks(seconds, at * kSecond, 10);
  CHECK(seconds.whole_seconds() == 4);
  CHECK(seconds.short_seconds() == 0);
  CHECK(seconds.blocks() == 40);
}

TEST_CASE("seconds count from the receiver's own first grant") {
  Seconds seconds = of_ten();
  seconds.begin(9 * kSecond + kSecond / 2);
  // Nothing in 11.5 to 12.5: with seconds from the measurement's start two would be half empty.
  for (const TimeUs at : {10, 12}) blocks(seconds, at * kSecond + kSecond / 2, 10);
  CHECK(seconds.whole_seconds() == 3);
  CHECK(seconds.short_seconds() == 1);
}

TEST_CASE("95 percent of the rate, in whole blocks, is enough") {
  Seconds seconds = of_ten();
  seconds.begin(10 * kSecond);
  blocks(seconds, 10 * kSecond, 9);
  blocks(seconds, 11 * kSecond, 8);
  blocks(seconds, 12 * kSecond, 10);
  blocks(seconds, 13 * kSecond, 10);
  CHECK(seconds.short_seconds() == 1);
}

TEST_CASE("the longest shortage is one of seconds in a row") {
  Seconds seconds = of_ten();
  seconds.begin(10 * kSecond);
  blocks(seconds, 11 * kSecond, 10);
  CHECK(seconds.short_seconds() == 3);
  CHECK(seconds.longest_shortage() == 2);
}

TEST_CASE("a receiver that never began is short all the time") {
  const Seconds seconds = of_ten();
  CHECK(seconds.whole_seconds() == 4);
  CHECK(seconds.short_seconds() == 4);
}

}  // namespace
}  // namespace firn::load
