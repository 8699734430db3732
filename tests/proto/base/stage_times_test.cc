#include "proto/base/stage_times.h"

#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <string_view>
#include <thread>

namespace firn {
namespace {

std::uint64_t time_of(const StageClock& clock, Stage stage) {
  return clock.times()[static_cast<std::size_t>(stage)];
}

// Works until the clock on the wall has moved.
void work_a_little() {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(50)) {
  }
}

TEST_CASE("a stage's time counts once it is left") {
  StageClock clock;
  const StageClock::Attach counted(&clock);
  {
    const StageScope decode(Stage::kDecode);
    work_a_little();
    CHECK(time_of(clock, Stage::kDecode) == 0);
  }
  CHECK(time_of(clock, Stage::kDecode) >= 50'000);
}

TEST_CASE("a stage within a stage interrupts it, and the two add up") {
  StageClock clock;
  const StageClock::Attach counted(&clock);
  const auto begin = std::chrono::steady_clock::now();
  {
    const StageScope reading(Stage::kDiskRead);
    work_a_little();
    {
      const StageScope hashing(Stage::kHash);
      work_a_little();
    }
    work_a_little();
  }
  const std::uint64_t reading = time_of(clock, Stage::kDiskRead);
  const std::uint64_t hashing = time_of(clock, Stage::kHash);
  CHECK(reading >= 100'000);
  CHECK(hashing >= 50'000);
  const auto all = std::chrono::steady_clock::now() - begin;
  CHECK(reading + hashing <=
        static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(all).count()));
}

TEST_CASE("every thread has a stage of its own, and counts only where it was attached") {
  StageClock clock;
  const StageClock::Attach counted(&clock);
  const StageScope here(Stage::kTls);
  Stage found = Stage::kTls;
  std::thread([&] {
    found = enter_stage(Stage::kHash);
    work_a_little();
    enter_stage(Stage::kNone);
  }).join();
  CHECK(found == Stage::kNone);
  CHECK(time_of(clock, Stage::kHash) == 0);
  std::thread([&] {
    const StageClock::Attach too(&clock);
    const StageScope hash(Stage::kHash);
    work_a_little();
  }).join();
  CHECK(time_of(clock, Stage::kHash) >= 50'000);
  CHECK(enter_stage(Stage::kTls) == Stage::kTls);
}

TEST_CASE("two clocks do not mix, and the first goes on where it was interrupted") {
  StageClock outer, inner;
  const StageClock::Attach counted(&outer);
  const StageScope decode(Stage::kDecode);
  work_a_little();
  {
    const StageClock::Attach elsewhere(&inner);
    CHECK(enter_stage(Stage::kHash) == Stage::kNone);
    work_a_little();
  }  // what runs when a clock is left is counted as well
  CHECK(time_of(inner, Stage::kHash) >= 50'000);
  CHECK(time_of(outer, Stage::kHash) == 0);
  CHECK(time_of(outer, Stage::kDecode) >= 50'000);
  CHECK(time_of(inner, Stage::kDecode) == 0);
  CHECK(enter_stage(Stage::kDecode) == Stage::kDecode);
}

TEST_CASE("how often a stage was entered counts, and going back to it does not") {
  StageClock clock;
  const StageClock::Attach counted(&clock, Stage::kActions);
  for (int i = 0; i < 3; ++i) {
    const StageScope reading(Stage::kDiskRead);
    { const StageScope hashing(Stage::kHash); }
    { const StageScope hashing(Stage::kHash); }
  }
  const StageCounts counts = clock.counts();
  CHECK(counts[static_cast<std::size_t>(Stage::kActions)] == 1);
  CHECK(counts[static_cast<std::size_t>(Stage::kDiskRead)] == 3);
  CHECK(counts[static_cast<std::size_t>(Stage::kHash)] == 6);
}

TEST_CASE("a stage that wall times do not count interrupts those that they do") {
  StageClock clock;
  const StageClock::Attach counted(&clock, Stage::kWorkerTurns);
  {
    const StageScope hashing(Stage::kHash);
    work_a_little();
    const StageScope waiting(Stage::kWaits);
    const std::uint64_t hashed = time_of(clock, Stage::kHash);
    CHECK(hashed >= 50'000);
    work_a_little();
    enter_stage(Stage::kTasks);
    CHECK(time_of(clock, Stage::kHash) == hashed);
    CHECK(time_of(clock, Stage::kWaits) == 0);
  }
}

TEST_CASE("the stages have different names, and time outside of any is not counted") {
  std::set<std::string_view> names;
  for (std::size_t s = 0; s < kStageCount; ++s) names.insert(name(static_cast<Stage>(s)));
  CHECK(names.size() == kStageCount);
  StageClock clock;
  const StageClock::Attach counted(&clock);
  enter_stage(Stage::kNone);
  work_a_little();
  enter_stage(Stage::kNone);
  CHECK(time_of(clock, Stage::kNone) == 0);
}

}  // namespace
}  // namespace firn
