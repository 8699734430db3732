#include "proto/stage_times.h"

#include <doctest/doctest.h>

#include <chrono>
#include <set>
#include <string_view>
#include <thread>

namespace firn {
namespace {

std::uint64_t time_of(Stage stage) {
  return stage_times()[static_cast<std::size_t>(stage)];
}

// Works until the clock has moved.
void work_a_little() {
  const auto begin = std::chrono::steady_clock::now();
  while (std::chrono::steady_clock::now() - begin < std::chrono::microseconds(50)) {
  }
}

TEST_CASE("a stage's time counts once it is left") {
  const auto before = time_of(Stage::kDecode);
  {
    const StageScope decode(Stage::kDecode);
    work_a_little();
    CHECK(time_of(Stage::kDecode) == before);
  }
  CHECK(time_of(Stage::kDecode) >= before + 50'000);
}

TEST_CASE("a stage within a stage interrupts it, and the two add up") {
  const auto begin = std::chrono::steady_clock::now();
  const auto read = time_of(Stage::kDiskRead), hash = time_of(Stage::kHash);
  {
    const StageScope reading(Stage::kDiskRead);
    work_a_little();
    {
      const StageScope hashing(Stage::kHash);
      work_a_little();
    }
    work_a_little();
  }
  const std::uint64_t reading = time_of(Stage::kDiskRead) - read;
  const std::uint64_t hashing = time_of(Stage::kHash) - hash;
  CHECK(reading >= 100'000);
  CHECK(hashing >= 50'000);
  const auto all = std::chrono::steady_clock::now() - begin;
  CHECK(reading + hashing <=
        static_cast<std::uint64_t>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(all).count()));
}

TEST_CASE("every thread has a stage of its own") {
  const StageScope here(Stage::kTls);
  Stage found = Stage::kTls;
  std::thread([&] { found = enter_stage(Stage::kNone); }).join();
  CHECK(found == Stage::kNone);
  CHECK(enter_stage(Stage::kTls) == Stage::kTls);
}

TEST_CASE("the stages have different names, and time outside of any is not counted") {
  std::set<std::string_view> names;
  for (std::size_t s = 0; s < kStageCount; ++s) names.insert(name(static_cast<Stage>(s)));
  CHECK(names.size() == kStageCount);
  enter_stage(Stage::kNone);
  work_a_little();
  enter_stage(Stage::kNone);
  CHECK(time_of(Stage::kNone) == 0);
}

}  // namespace
}  // namespace firn
