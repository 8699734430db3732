#include <doctest/doctest.h>

#include "client/app/coding/row_table.h"

namespace firn::app {
namespace {

constexpr std::size_t kRowBytes = 100;
using Slots = std::vector<std::uint32_t>;

core::StoreRow row_of(std::uint32_t generation, std::uint32_t slot) {
  core::StoreRow row;
  row.generation = generation;
  row.slot = slot;
  row.vector = std::make_shared<const std::vector<std::uint8_t>>(4, std::uint8_t{1});
  row.payload = proto::Payload::allocate(kRowBytes);
  return row;
}

TEST_CASE("few rows wait for others for a while, and not longer") {
  RowTable table(10'000);
  table.store(row_of(1, 0), 1000);
  CHECK(table.next_due() == 1000 + kSpoolDelayFew);
  CHECK(table.take_due(1000 + kSpoolDelayFew - 1, false).empty());
  table.store(row_of(1, 1), 1000 + kSpoolDelayFew / 2);
  table.store(row_of(1, 2), 1000 + kSpoolDelayFew - 1);  // so fresh that it may still be decoded
  const auto due = table.take_due(1000 + kSpoolDelayFew, false);
  REQUIRE(due.size() == 1);
  CHECK(due[0].rows.size() == 2);
}

TEST_CASE("where rows come fast one is due for the spool 20 ms after it came, and not before") {
  RowTable table(10'000);
  for (std::uint32_t slot = 0; slot < kSpoolRows; ++slot) table.store(row_of(1, slot), 1000);
  CHECK(table.next_due() == 1000 + kSpoolDelayMin);
  CHECK(table.take_due(1000 + kSpoolDelayMin - 1, false).empty());
  const auto due = table.take_due(1000 + kSpoolDelayMin, false);
  REQUIRE(due.size() == 1);
  CHECK(due[0].generation == 1);
  REQUIRE(due[0].rows.size() == kSpoolRows);
  CHECK(due[0].rows[0].slot == 0);
  CHECK(table.next_due() == core::kNever);
  CHECK(table.touched_disk(1));
}

TEST_CASE("the longer a download has run, the longer rows wait: a twentieth of the time") {
  RowTable table(1'000'000);
  table.store(row_of(1, 0), 1000);
  CHECK(table.take_due(core::kSecond, false).size() == 1);
  const core::TimeUs later = 1000 + 20 * core::kSecond;
  table.store(row_of(2, 0), later);
  CHECK(table.next_due() == later + core::kSecond);
  table.store(row_of(3, 0), later + core::kSecond / 8);      // has waited nearly as long
  table.store(row_of(3, 1), later + core::kSecond * 7 / 8);  // has not
  CHECK(table.take_due(later + core::kSecond - 1, false).empty());
  const auto due = table.take_due(later + core::kSecond, false);
  REQUIRE(due.size() == 2);
  CHECK(due[1].rows.size() == 1);

  const core::TimeUs much_later = 1000 * core::kSecond;
  (void)table.take_due(much_later, true);
  table.store(row_of(4, 0), much_later);
  CHECK(table.next_due() == much_later + kSpoolDelayMax);
}

TEST_CASE("where generations are whole soon rows wait as long as that takes, and half again") {
  RowTable table(1'000'000);
  const core::TimeUs took = 200 * core::kMillisecond;
  for (std::uint32_t slot = 0; slot < kSpoolRows; ++slot) table.store(row_of(1, slot), 0);
  table.cancel_spooling(1, took);
  for (std::uint32_t slot = 0; slot < kSpoolRows; ++slot) table.store(row_of(2, slot), took);
  CHECK(table.next_due() == took + took * 3 / 2);
  CHECK(table.take_due(took + took * 3 / 2 - 1, false).empty());
  CHECK(table.take_due(took + took * 3 / 2, false).size() == 1);
}

TEST_CASE("where generations take long rows do not wait for them") {
  RowTable table(1'000'000);
  const core::TimeUs took = 3 * core::kSecond;
  for (std::uint32_t slot = 0; slot < kSpoolRows; ++slot) table.store(row_of(1, slot), 0);
  table.cancel_spooling(1, took);
  for (std::uint32_t slot = 0; slot < kSpoolRows; ++slot) table.store(row_of(2, slot), took);
  CHECK(table.next_due() == took + took / kSpoolDelayShare);
}

TEST_CASE("rows that would fill memory while they wait do not: a quarter goes") {
  RowTable table(100 * 2 * kRowBytes);  // of which half may wait
  const core::TimeUs later = 40 * core::kSecond;
  table.store(row_of(1, 0), 0);
  (void)table.take_due(later, true);
  for (std::uint32_t slot = 0; slot < 100; ++slot) table.store(row_of(2, slot), later + slot);
  CHECK(table.next_due() == later + kSpoolDelayMax);
  table.store(row_of(2, 100), later + 100);
  CHECK(table.next_due() == later + kSpoolDelayMin);
  const auto due = table.take_due(later + kSpoolDelayMin, false);
  REQUIRE(due.size() == 1);
  REQUIRE(due[0].rows.size() == 26);
  CHECK(due[0].rows[0].slot == 0);
  CHECK(due[0].rows[25].slot == 25);
}

TEST_CASE("where memory is short those rows go first whose generations have fewest") {
  RowTable table(100 * 2 * kRowBytes);  // of which half may wait
  const core::TimeUs later = 40 * core::kSecond;
  table.store(row_of(9, 0), 0);
  (void)table.take_due(later, true);
  for (const auto& [generation, rows] : {std::pair{1u, 60u}, {2u, 30u}, {3u, 11u}})
    for (std::uint32_t slot = 0; slot < rows; ++slot) table.store(row_of(generation, slot), later);
  const auto due = table.take_due(later + kSpoolDelayMin, false);
  REQUIRE(due.size() == 2);
  CHECK(due[0].generation == 2);
  CHECK(due[0].rows.size() == 15);
  CHECK(due[0].rows[14].slot == 14);
  CHECK(due[1].generation == 3);
  CHECK(due[1].rows.size() == 11);
  CHECK(table.take_due(later + 2 * kSpoolDelayMin, false).empty());
}

TEST_CASE("rows that come fast wait for a second, or until there is no more room") {
  RowTable table(1000 * 2 * kRowBytes);
  // Twice as many as may wait would come within a second. The first generation takes too long to
  // be waited for.
  std::uint32_t count = 0;
  core::TimeUs now = 0;
  for (; now < 300 * core::kMillisecond; now += 500)
    table.store(row_of(1 + count / 64, count % 64), now), ++count;
  CHECK(table.next_due() == kSpoolDelayWhole);
  CHECK(table.take_due(now, false).empty());
  // Then they come slowly, and wait no longer than a twentieth of the time.
  for (; now < 900 * core::kMillisecond; now += 50 * core::kMillisecond) {
    table.store(row_of(1 + count / 64, count % 64), now);
    ++count;
  }
  CHECK(table.next_due() < kSpoolDelayWhole);
  CHECK_FALSE(table.take_due(now, false).empty());
}

TEST_CASE("rows that are decoded or dropped wait for nothing") {
  RowTable table(100 * 8 * kRowBytes);
  for (std::uint32_t slot = 0; slot < 64; ++slot) table.store(row_of(1, slot), 0);
  table.store(row_of(2, 0), 5);
  table.cancel_spooling(1, 0);
  CHECK(table.next_due() == 5 + kSpoolDelayFew);
  (void)table.drop(2);
  CHECK(table.next_due() == core::kNever);
}

TEST_CASE("a generation that is decoded in time never touches the spool") {
  RowTable table(10'000);
  table.store(row_of(1, 0), 0);
  table.store(row_of(1, 1), 1);
  table.cancel_spooling(1, 1);
  CHECK(table.take_due(core::kSecond, true).empty());
  CHECK_FALSE(table.touched_disk(1));
  CHECK(table.find(1, 0, 0).payload);  // the decode needs it
  CHECK(table.drop(1) == std::vector<std::uint32_t>{0, 1});
  CHECK(table.bytes() == 0);
}

TEST_CASE("a decode that fails makes its rows due again") {
  RowTable table(10'000);
  table.store(row_of(1, 0), 0);
  table.cancel_spooling(1, 0);
  table.restart_spooling(1, 500);
  CHECK(table.take_due(500 + kSpoolDelayMin - 1, false).empty());
  CHECK(table.take_due(500 + kSpoolDelayFew, false).size() == 1);
}

TEST_CASE("past the bound, spooled rows of the generation used longest ago leave memory") {
  RowTable table(3 * kRowBytes);
  for (std::uint32_t g : {1u, 2u, 3u}) table.store(row_of(g, 0), g);
  for (const SpoolBatch& batch : table.take_due(core::kSecond, false)) {
    CHECK(table.spooled(batch).slots == std::vector<std::uint32_t>{0});
  }
  (void)table.find(1, 0, 10);  // used: 2 is the oldest now
  table.store(row_of(4, 0), 11);
  CHECK(table.memory_short());
  CHECK(table.make_room());
  CHECK(table.find(1, 0, 12).payload);
  CHECK_FALSE(table.find(2, 0, 12).payload);
  CHECK(table.find(3, 0, 12).payload);
  CHECK(table.find(4, 0, 12).payload);
}

TEST_CASE("rows that are not spooled yet never leave memory") {
  RowTable table(kRowBytes);
  table.store(row_of(1, 0), 0);
  table.store(row_of(2, 0), 0);
  CHECK_FALSE(table.make_room());
  CHECK(table.find(1, 0, 0).payload);
  CHECK(table.find(2, 0, 0).payload);
}

TEST_CASE("rows read back are kept while there is room, and counted") {
  RowTable table(2 * kRowBytes);
  table.mark_on_disk(1);
  const std::vector<RowRef> rows = {{0, proto::Payload::allocate(kRowBytes)},
                                    {1, proto::Payload::allocate(kRowBytes)},
                                    {2, proto::Payload::allocate(kRowBytes)}};
  table.put_back(1, rows, 0);
  CHECK(table.bytes() == 2 * kRowBytes);
  CHECK(table.find(1, 1, 0).payload);
  CHECK_FALSE(table.find(1, 2, 0).payload);
  table.put_back(2, rows, 0);  // dropped meanwhile: they are not kept
  CHECK(table.bytes() == 2 * kRowBytes);
}

TEST_CASE("what was dropped while it was being written is not reported as spooled") {
  RowTable table(10'000);
  table.store(row_of(1, 0), 0);
  const auto before = table.take_due(0, true);
  CHECK(table.drop(1) == std::vector<std::uint32_t>{0});
  table.store(row_of(1, 0), 1);
  REQUIRE(before.size() == 1);
  CHECK(before[0].life->spooling_cancelled);
  CHECK(table.spooled(before[0]).slots.empty());
  CHECK(table.take_due(1, true).size() == 1);
}

TEST_CASE("a batch does not stand for another row in a slot of its own that is on its way too") {
  RowTable table(10'000);
  table.store(row_of(1, 0), 0);
  const auto before = table.take_due(0, true);
  CHECK(table.drop(1, std::vector<std::uint32_t>{0}) == std::vector<std::uint32_t>{0});
  table.store(row_of(1, 0), 1);
  const auto after = table.take_due(1, true);
  REQUIRE((before.size() == 1 && after.size() == 1));
  CHECK(table.spooled(before[0]).slots.empty());
  table.cancel_spooling(1, 2);  // so the later one may not have been written
  CHECK(table.spooled(after[0]).slots.empty());
  table.restart_spooling(1, 3);
  CHECK(table.take_due(3, true).size() == 1);
}

TEST_CASE("of rows that are proven those are named that the spool has otherwise") {
  const Slots all = {0, 1, 2, 3};
  RowTable table(10'000);
  CHECK(table.prove(1, all).empty());  // none is held
  for (const std::uint32_t slot : {0u, 1u}) table.store(row_of(1, slot), 0);
  const auto first = table.take_due(0, true);
  REQUIRE(first.size() == 1);
  CHECK(table.spooled(first[0]).proven.empty());
  table.store(row_of(1, 2), 1);
  const auto second = table.take_due(1, true);
  REQUIRE(second.size() == 1);
  table.store(row_of(1, 3), 2);
  CHECK(table.prove(1, all) == Slots{0, 1});
  CHECK(table.spooled(second[0]).proven == Slots{2});  // it was on its way
  const auto third = table.take_due(2, true);
  REQUIRE(third.size() == 1);
  CHECK(third[0].rows[0].standing == core::Standing::kProven);
  CHECK(table.prove(1, Slots{3}).empty());  // which it gets with it
  CHECK(table.spooled(third[0]).proven.empty());
  RowTable resumed(10'000);
  resumed.mark_on_disk(1);
  CHECK(resumed.prove(1, all) == all);
}

TEST_CASE("rows that are doubted are proven no more: fresh, on their way and in the spool") {
  RowTable table(10'000);
  const auto store = [&](std::uint32_t slot) {
    core::StoreRow row = row_of(1, slot);
    row.standing = slot % 2 == 0 ? core::Standing::kProven : core::Standing::kAnswered;
    table.store(row, slot);
  };
  for (const std::uint32_t slot : {0u, 1u}) store(slot);
  CHECK(table.doubt_all().empty());  // the spool has nothing yet
  auto batch = table.take_due(0, true);
  REQUIRE(batch.size() == 1);
  CHECK(batch[0].rows[0].standing == core::Standing::kUnanswered);
  CHECK(batch[0].rows[1].standing == core::Standing::kAnswered);
  CHECK(table.spooled(batch[0]).proven.empty());
  store(2);
  batch = table.take_due(2, true);
  REQUIRE(batch.size() == 1);
  CHECK(batch[0].rows[0].standing == core::Standing::kProven);
  table.mark_on_disk(7);                    // from an earlier run
  CHECK(table.doubt_all() == Slots{1, 7});  // once the batch is written
  SUBCASE("") {
    CHECK(table.spooled(batch[0]).proven.empty());
  }
  SUBCASE("proven again before it is written") {
    CHECK(table.prove(1, Slots{0, 2}) == Slots{0});
    CHECK(table.spooled(batch[0]).proven == Slots{2});
  }
  SUBCASE("proven again, and doubted again, before it is written") {
    CHECK(table.prove(1, Slots{0, 2}) == Slots{0});
    CHECK(table.doubt_all() == Slots{1, 7});
    CHECK(table.spooled(batch[0]).proven.empty());
  }
  SUBCASE("perhaps not written, as the generation was to be decoded: written again as it is now") {
    table.cancel_spooling(1, 3);
    CHECK(table.spooled(batch[0]).slots.empty());
    table.restart_spooling(1, 4);
    batch = table.take_due(4, true);
    REQUIRE(batch.size() == 1);
    CHECK(batch[0].rows[0].slot == 2);
    CHECK(batch[0].rows[0].standing == core::Standing::kUnanswered);
  }
}

}  // namespace
}  // namespace firn::app
