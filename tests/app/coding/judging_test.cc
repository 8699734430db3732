// Rows judged by check sums, from the source that makes them to the peer that judges.
#include <doctest/doctest.h>

#include "tests/app/coding/data_plane_fixture.h"

using namespace firn;
using namespace firn::app;
using firn::tests::DataPlaneFixture;

namespace {

constexpr std::uint32_t kTagBytes = 8;

// What a source answers for generation g.
proto::CheckReply sums_of(DataPlaneFixture& source, std::uint32_t g,
                          const std::vector<std::uint8_t>& key = {}) {
  source.plane->make_check({1, g, kTagBytes, {key.begin(), key.end()}});
  source.settle();
  return source.outcomes.checks.at(g);
}

core::JudgeRows judge_of(const proto::CheckReply& sums, const std::vector<core::Vector>& rows) {
  core::JudgeRows judge{sums.generation,
                        {sums.key.begin(), sums.key.end()},
                        {sums.sums.begin(), sums.sums.end()},
                        {},
                        rows};
  for (std::uint32_t slot = 0; slot < rows.size(); ++slot) judge.slots.push_back(slot);
  return judge;
}

}  // namespace

TEST_CASE("rows are judged right but for those that are false, in memory or in the spool") {
  DataPlaneFixture source, getter;
  source.serve();
  for (std::uint32_t g = 0; g < DataPlaneFixture::kGenerations; ++g) {
    CAPTURE(g);
    const proto::CheckReply sums = sums_of(source, g);
    REQUIRE(sums.key.size() == 32);
    REQUIRE(sums.sums.size() == kTagBytes * source.blocks_in(g));
    const auto rows = getter.fill(g, {2, 5});
    if (g == 1) {  // nothing in memory any more
      getter.pass(kSpoolDelayFew);
      getter.open(1 << 20);
    }
    getter.plane->judge_rows(judge_of(sums, rows), getter.now);
    getter.settle();
    const RowVerdict& verdict = getter.outcomes.judged.at(g);
    CHECK(verdict.readable);
    CHECK(verdict.wrong == std::vector<std::uint32_t>{2, 5});
    CHECK(verdict.right.size() == getter.blocks_in(g) - 2);
  }
}

TEST_CASE(
    "rows at hand are judged at once while the loop's budget lasts, and by workers after that") {
  DataPlaneFixture source, getter;
  source.serve();
  const proto::CheckReply sums = sums_of(source, 0);
  const auto rows = getter.fill(0, {2, 5});
  getter.plane->judge_rows(judge_of(sums, rows), getter.now);
  REQUIRE(getter.outcomes.judged.contains(0));
  CHECK(getter.outcomes.judged.at(0).wrong == std::vector<std::uint32_t>{2, 5});
  getter.outcomes.judged.clear();
  while (getter.budget.take(1, getter.now)) {
  }
  getter.plane->judge_rows(judge_of(sums, rows), getter.now);
  CHECK(getter.outcomes.judged.empty());
  getter.settle();
  REQUIRE(getter.outcomes.judged.contains(0));
  CHECK(getter.outcomes.judged.at(0).wrong == std::vector<std::uint32_t>{2, 5});
}

TEST_CASE("rows of one generation are judged by each key that comes") {
  DataPlaneFixture source, getter;
  source.serve();
  const auto rows = getter.fill(0, {2, 5});
  for (std::uint8_t key = 1; key <= 3; ++key) {
    CAPTURE(int(key));
    const proto::CheckReply sums = sums_of(source, 0, std::vector<std::uint8_t>(32, key));
    getter.plane->judge_rows(judge_of(sums, rows), getter.now);
    getter.settle();
    CHECK(getter.outcomes.judged.at(0).wrong == std::vector<std::uint32_t>{2, 5});
    getter.outcomes.judged.clear();
  }
}

TEST_CASE("a generation whose false rows were dropped and replaced decodes") {
  DataPlaneFixture getter;
  auto rows = getter.fill(0, {3, 6});
  getter.plane->decode({0, rows}, getter.now);
  getter.settle();
  REQUIRE(getter.outcomes.decoded.at(0) == core::DecodeOutcome::kCorrupt);
  getter.plane->drop_slots({0, {3, 6}});
  for (const std::uint32_t slot : {3u, 6u}) {
    getter.outcomes.stored.erase({0, slot});
    const auto row = getter.row(0, slot, 1);
    rows[slot] = row.vector;
    getter.plane->store_row(row, getter.now);
  }
  getter.plane->decode({0, rows}, getter.now);
  getter.settle();
  CHECK(getter.outcomes.decoded.at(0) == core::DecodeOutcome::kVerified);
  CHECK(getter.outcomes.stored.size() == DataPlaneFixture::kN);
}

TEST_CASE("slots dropped while they are written are told of once, and may be used again") {
  DataPlaneFixture getter;
  const auto rows = getter.fill(0, {1});
  getter.now += kSpoolDelayMax;
  getter.plane->wake(getter.now);  // the rows are on their way to the spool
  getter.plane->drop_slots({0, {1}});
  getter.settle();
  for (std::uint32_t slot = 0; slot < DataPlaneFixture::kN; ++slot) {
    CHECK(getter.outcomes.stored.contains({0, slot}));
  }
  getter.outcomes.stored.erase({0, 1});
  getter.plane->store_row(getter.row(0, 1, 1), getter.now);
  getter.pass(kSpoolDelayMax);
  CHECK(getter.outcomes.stored.contains({0, 1}));
}

TEST_CASE("rows that cannot be read back are not judged") {
  DataPlaneFixture source, getter;
  source.serve();
  std::vector<core::Vector> rows;
  for (std::uint32_t slot = 0; slot < DataPlaneFixture::kN; ++slot) {
    rows.push_back(getter.row(0, slot, 1).vector);
  }
  getter.plane->judge_rows(judge_of(sums_of(source, 0), rows), getter.now);
  getter.settle();
  CHECK_FALSE(getter.outcomes.judged.at(0).readable);
  CHECK(getter.outcomes.judged.at(0).right.empty());
}

TEST_CASE("each key is drawn anew, and one that is handed in is used") {
  DataPlaneFixture source;
  source.serve();
  const proto::CheckReply first = sums_of(source, 0), second = sums_of(source, 0);
  CHECK(first.key != second.key);
  CHECK(first.sums != second.sums);
  const proto::CheckReply again = sums_of(source, 0, first.key);
  CHECK(again.key == first.key);
  CHECK(again.sums == first.sums);
}

TEST_CASE("of a generation that cannot be read there are no sums") {
  DataPlaneFixture getter;
  CHECK(sums_of(getter, 0).sums.empty());
}
