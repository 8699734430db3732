// Whose limit holds: a content's own, the daemon's, or the configuration's.
#include "client/app/daemon/transfer_limits.h"

#include <doctest/doctest.h>

#include "../temp_folder.h"

namespace firn::app {
namespace {

const ConfiguredLimits kConfigured{{1000, 0, 2000, 60}, 100, 200, {}};

struct Kept {
  tests::TempFolder folder;
  std::unique_ptr<ContentsStore> store = ContentsStore::open(folder.path() + "/c").value();
  TransferLimits limits = TransferLimits::restore(*store, kConfigured).value();
};

TEST_CASE("the configuration's limits hold until others are set, and again afterwards") {
  Kept kept;
  CHECK(kept.limits.whole() == kConfigured.whole);
  REQUIRE(kept.limits.change({.up = LimitValues::kNone, .down = 77}).ok());
  CHECK(kept.limits.whole() == LimitValues{0, 77, 2000, 60});
  REQUIRE(kept.limits.change({.up = LimitValues::kUnset, .down = LimitValues::kUnset}).ok());
  CHECK(kept.limits.whole() == kConfigured.whole);
}

TEST_CASE("limits that were set come back from the store, whatever the configuration says then") {
  Kept kept;
  REQUIRE(kept.limits.change({.up = 5, .seed_ratio = 1500}).ok());
  const auto again = TransferLimits::restore(*kept.store, {{9, 9, 9, 9}, 0, 0, {}}).value();
  CHECK(again.whole() == LimitValues{5, 9, 1500, 9});
}

TEST_CASE("what the schedule says goes before all limits of the whole, and its gaps do not") {
  const tests::TempFolder folder;
  const auto store = ContentsStore::open(folder.path() + "/c").value();
  const BandwidthSchedule schedule({parse_schedule_rule("daily 00:00-24:00 up=none").value()});
  auto limits = TransferLimits::restore(*store, {{1000, 2000, 0, 0}, 0, 0, schedule}).value();
  CHECK(limits.whole_at(0) == LimitValues{0, 2000, 0, 0});
  REQUIRE(limits.change({.up = 5, .down = 6}).ok());
  CHECK(limits.whole_at(0) == LimitValues{0, 6, 0, 0});
  CHECK(limits.whole() == LimitValues{5, 6, 0, 0});
}

TEST_CASE("a content has its own limits before those that each content has") {
  Kept kept;
  CHECK(kept.limits.of_content({}) == LimitValues{100, 200, 2000, 60});
  CHECK(kept.limits.of_content({7, LimitValues::kNone, LimitValues::kNone, 5}) ==
        LimitValues{7, 0, 0, 5});
  REQUIRE(kept.limits.change({.up = 1, .seed_ratio = 3000}).ok());
  CHECK(kept.limits.of_content({}) == LimitValues{100, 200, 3000, 60});
}

}  // namespace
}  // namespace firn::app
