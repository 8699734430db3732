#include "tracker/rate_limit.h"

#include <doctest/doctest.h>

#include "tests/tracker/tracker_fixture.h"

namespace firn::tracker::test {
namespace {

using namespace std::chrono_literals;

TEST_CASE("a bucket gives its burst at once, then its rate") {
  RateLimit limit({.per_second = 4, .burst = 3}, 10);
  for (int i = 0; i < 3; ++i) CHECK(limit.take("a", 0ms) == 0ms);
  CHECK(limit.take("a", 0ms) == 250ms);
  CHECK(limit.take("a", 100ms) == 150ms);
  CHECK(limit.take("a", 250ms) == 0ms);
  CHECK(limit.take("a", 250ms) > 0ms);
  // Rest fills it up to the burst and no further.
  for (int i = 0; i < 3; ++i) CHECK(limit.take("a", 1h) == 0ms);
  CHECK(limit.take("a", 1h) > 0ms);
}

TEST_CASE("another rate holds for the names that are known, which keep what they have saved up") {
  RateLimit limit({.per_second = 1, .burst = 4}, 10);
  CHECK(limit.take("a", 0ms) == 0ms);
  limit.change({.per_second = 10, .burst = 2}, 0ms);
  for (int i = 0; i < 2; ++i) CHECK(limit.take("a", 0ms) == 0ms);  // of three, two fit
  CHECK(limit.take("a", 0ms) == 100ms);
  for (int i = 0; i < 2; ++i) CHECK(limit.take("b", 0ms) == 0ms);
  CHECK(limit.take("b", 0ms) == 100ms);
}

TEST_CASE("names have buckets of their own") {
  RateLimit limit({.per_second = 1, .burst = 1}, 10);
  CHECK(limit.take("a", 0ms) == 0ms);
  CHECK(limit.take("a", 0ms) > 0ms);
  CHECK(limit.take("b", 0ms) == 0ms);
}

TEST_CASE("with all names in use newcomers wait until one is full again") {
  RateLimit limit({.per_second = 1, .burst = 2}, 2);
  CHECK(limit.take("a", 0ms) == 0ms);
  CHECK(limit.take("b", 0ms) == 0ms);
  CHECK(limit.take("b", 0ms) == 0ms);
  CHECK(limit.take("c", 0ms) > 0ms);
  CHECK(limit.take("c", 1000ms) == 0ms);  // "a" is full and forgotten
  CHECK(limit.take("b", 1000ms) == 0ms);  // "b" is not, and remembered
  CHECK(limit.take("b", 1000ms) > 0ms);
}

TEST_CASE("a bucket that was found before is the name's own, also after others were forgotten") {
  RateLimit limit({.per_second = 1, .burst = 2}, 10);
  RateLimit::Found found;
  CHECK(limit.take("a", found, 0ms) == 0ms);
  CHECK(limit.take("a", 0ms) == 0ms);
  CHECK(limit.take("a", found, 0ms) > 0ms);
  limit.tidy(10s);  // it is full again, and forgotten
  CHECK(limit.take("a", 10s) == 0ms);
  CHECK(limit.take("a", found, 10s) == 0ms);
  CHECK(limit.take("a", found, 10s) > 0ms);
  CHECK(limit.take("a", 10s) > 0ms);
}

}  // namespace
}  // namespace firn::tracker::test
