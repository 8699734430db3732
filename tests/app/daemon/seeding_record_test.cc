// When a content's goals of seeding are reached.
#include "client/app/daemon/seeding_record.h"

#include <doctest/doctest.h>

namespace firn::app {
namespace {

TEST_CASE("what was sent counts over all sessions") {
  SeedingRecord record(1000, 0);
  record.session_began(0);
  record.sample(300, false, core::kSecond);
  record.sample(500, true, 2 * core::kSecond);
  record.session_began(3 * core::kSecond);
  record.sample(100, true, 4 * core::kSecond);
  CHECK(record.uploaded() == 1600);
  const LimitValues goal{.seed_ratio = 2000, .seed_seconds = 0};
  CHECK(record.reached(goal, 800));
  CHECK_FALSE(record.reached(goal, 801));
  CHECK_FALSE(record.reached(goal, 0));  // not known how much it is
  CHECK_FALSE(record.reached({.seed_ratio = 0, .seed_seconds = 0}, 1));
}

TEST_CASE("only the time between sessions' completion and end counts as seeding") {
  SeedingRecord record(0, 10);
  record.session_began(100 * core::kSecond);
  record.sample(0, false, 200 * core::kSecond);
  record.sample(0, true, 300 * core::kSecond);
  record.sample(0, true, 305 * core::kSecond);
  record.session_began(1000 * core::kSecond);  // it was paused meanwhile
  record.sample(0, true, 1001 * core::kSecond);
  record.sample(0, true, 1003 * core::kSecond);
  CHECK(record.seconds() == 17);
  CHECK(record.reached({.seed_ratio = 0, .seed_seconds = 17}, 1));
  CHECK_FALSE(record.reached({.seed_ratio = 0, .seed_seconds = 18}, 1));
  CHECK_FALSE(record.reached({.seed_ratio = 0, .seed_seconds = 0}, 1));
}

}  // namespace
}  // namespace firn::app
