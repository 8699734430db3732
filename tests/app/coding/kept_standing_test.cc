// What is known of rows is kept with them on disk, and taken back there when it falls.
#include "client/app/coding/kept_standing.h"

#include <doctest/doctest.h>

#include "tests/app/coding/data_plane_fixture.h"

namespace firn::app {
namespace {

using tests::DataPlaneFixture;
using tests::kN;

// The standing with which the next run finds the row in slot 0 of generation 1.
store::Standing after_a_kill(DataPlaneFixture& fixture) {
  fixture.open(1 << 20);
  REQUIRE(fixture.resumed.rows.size() == 1);
  return fixture.resumed.rows[0].standing;
}

TEST_CASE("a row's standing is spooled with it, as it is then") {
  using core::Standing;
  for (const Standing standing : {Standing::kUnanswered, Standing::kAnswered, Standing::kProven}) {
    for (const bool proven : {false, true}) {
      DataPlaneFixture fixture;
      auto row = fixture.row(1, 0, 1);
      row.standing = standing;
      fixture.plane->store_row(row, fixture.now);
      if (proven) fixture.plane->mark_proven({1, {0}});
      fixture.pass(kSpoolDelayFew);
      CHECK(fixture.store->rows_marked == 0);
      CHECK(after_a_kill(fixture) == (proven ? store::Standing::kProven : kept_standing(standing)));
    }
  }
}

TEST_CASE("a row that is proven when it lies in the spool, or on its way there, is marked there") {
  DataPlaneFixture fixture;
  fixture.plane->store_row(fixture.row(1, 0, 1), fixture.now);
  fixture.pass(kSpoolDelayFew);
  SUBCASE("in memory as well") {}
  SUBCASE("in the spool alone, from an earlier run") {
    CHECK(after_a_kill(fixture) == store::Standing::kNotKnown);
  }
  SUBCASE("on its way") {
    fixture.plane->drop_rows(1);
    fixture.settle();
    fixture.outcomes.stored.clear();
    fixture.plane->store_row(fixture.row(1, 0, 1), fixture.now);
    fixture.now += kSpoolDelayFew;
    fixture.plane->wake(fixture.now);
  }
  fixture.plane->mark_proven({1, {0}});
  fixture.settle();
  CHECK(fixture.store->rows_marked == 1);
  CHECK(after_a_kill(fixture) == store::Standing::kProven);
}

TEST_CASE("a row that cannot be marked stops nothing") {
  DataPlaneFixture fixture;
  fixture.plane->store_row(fixture.row(1, 0, 1), fixture.now);
  fixture.pass(kSpoolDelayFew);
  fixture.store->mark_failures = 1;
  fixture.plane->mark_proven({1, {0}});
  fixture.settle();
  CHECK(fixture.outcomes.paused == 0);
  CHECK(after_a_kill(fixture) == store::Standing::kNotKnown);
}

TEST_CASE("rows that are doubted are not found as proven by the next run") {
  DataPlaneFixture fixture;
  auto row = fixture.row(1, 0, 1);
  row.standing = core::Standing::kProven;
  fixture.plane->store_row(row, fixture.now);
  SUBCASE("before they are spooled") {
    fixture.plane->doubt_rows();
    fixture.pass(kSpoolDelayFew);
    CHECK(fixture.store->rows_marked == 0);
  }
  SUBCASE("on their way") {
    fixture.now += kSpoolDelayFew;
    fixture.plane->wake(fixture.now);
    fixture.plane->doubt_rows();
    fixture.settle();
    CHECK(fixture.store->rows_marked == 1);
  }
  SUBCASE("on their way to a disk that is full") {
    fixture.store->write_failures = 1;
    fixture.pass(kSpoolDelayFew);
    fixture.plane->doubt_rows();
    fixture.pass(DiskQueue::kRetryInterval);
    CHECK(fixture.store->rows_marked == 1);
  }
  SUBCASE("in the spool and in memory") {
    fixture.pass(kSpoolDelayFew);
    fixture.plane->doubt_rows();
    fixture.settle();
    CHECK(fixture.store->rows_marked == 1);
    fixture.plane->doubt_rows();  // there is nothing left to doubt
    fixture.settle();
    CHECK(fixture.store->rows_marked == 1);
  }
  SUBCASE("in the spool alone, from an earlier run") {
    fixture.pass(kSpoolDelayFew);
    CHECK(after_a_kill(fixture) == store::Standing::kProven);
    fixture.plane->doubt_rows();
    fixture.settle();
  }
  SUBCASE("in the spool, after their slots were given up") {
    fixture.pass(kSpoolDelayFew);
    fixture.plane->drop_slots({1, {0}});
    fixture.plane->doubt_rows();
    fixture.settle();
  }
  CHECK(fixture.outcomes.warnings == 0);
  CHECK(after_a_kill(fixture) == store::Standing::kNotKnown);
}

TEST_CASE("doubted rows that cannot be marked stop nothing, and a person is told once") {
  DataPlaneFixture fixture;
  for (const std::uint32_t g : {0u, 1u}) {
    auto row = fixture.row(g, 0, 1);
    row.standing = core::Standing::kProven;
    fixture.plane->store_row(row, fixture.now);
  }
  fixture.pass(kSpoolDelayFew);
  fixture.store->mark_failures = 2 * static_cast<int>(kN);
  fixture.plane->doubt_rows();
  fixture.settle();
  CHECK(fixture.outcomes.paused == 0);
  CHECK(fixture.outcomes.warnings == 1);
}

TEST_CASE("nothing is synced for marks that had nothing to change") {
  DataPlaneFixture fixture;
  auto row = fixture.row(1, 0, 1);
  row.standing = core::Standing::kProven;
  fixture.plane->store_row(row, fixture.now);
  fixture.pass(kSpoolDelayFew);
  fixture.pass(Durability::kSyncInterval);
  const int syncs = fixture.store->syncs;
  REQUIRE(syncs > 0);
  fixture.plane->mark_proven({1, {0, 1}});
  fixture.settle();
  fixture.pass(Durability::kSyncInterval);
  CHECK(fixture.store->syncs == syncs);
  fixture.plane->doubt_rows();
  fixture.settle();
  fixture.pass(Durability::kSyncInterval);
  CHECK(fixture.store->syncs == syncs + 1);
}

}  // namespace
}  // namespace firn::app
