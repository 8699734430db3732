#include <doctest/doctest.h>

#include "proto/transport/loop_pace.h"

namespace firn::proto::transport {
namespace {

constexpr std::uint64_t kInterval = 8'000;

// As many turns as fit before `end_us`, each `work_us` long and sending `bytes`; their number.
int turns_until(LoopPace& pace, std::uint64_t& now_us, std::uint64_t end_us, std::uint64_t work_us,
                std::uint64_t bytes) {
  int turns = 0;
  while (now_us < end_us) {
    ++turns;
    now_us += work_us;
    pace.sent(bytes);
    now_us += pace.rest_us(now_us);
  }
  return turns;
}

TEST_CASE("without an interval a loop never rests") {
  LoopPace pace(0);
  for (std::uint64_t now = 0; now < 100'000; now += 100) CHECK(pace.rest_us(now) == 0);
}

TEST_CASE("a loop that moves little takes one turn an interval, after a few at once") {
  LoopPace pace(kInterval);
  std::uint64_t now = 1'000'000;
  const int first = turns_until(pace, now, now + kInterval, 50, 300);
  CHECK(first >= static_cast<int>(LoopPace::kTurnsSaved));
  CHECK(first <= static_cast<int>(LoopPace::kTurnsSaved) + 2);
  const int then = turns_until(pace, now, now + 100 * kInterval, 50, 300);
  CHECK(then >= 99);
  CHECK(then <= 101);
}

TEST_CASE("rests end where intervals do") {
  LoopPace pace(kInterval);
  std::uint64_t now = 1'003'123;
  turns_until(pace, now, now + 10 * kInterval, 50, 0);
  CHECK(now % kInterval == 0);
}

TEST_CASE("a loop that moves much never rests") {
  LoopPace pace(kInterval);
  std::uint64_t now = 1'000'000;
  turns_until(pace, now, now + 600'000, 50, 16'000);
  // 16,000 bytes in 50 us is far above the bound.
  const std::uint64_t begin = now;
  const int turns = turns_until(pace, now, now + 200'000, 50, 16'000);
  CHECK(now - begin == static_cast<std::uint64_t>(turns) * 50);
}

TEST_CASE("a loop that has a small block for each of its turns never rests") {
  LoopPace pace(kInterval);
  std::uint64_t now = 1'000'000;
  turns_until(pace, now, now + 600'000, 50, 2000);
  const std::uint64_t begin = now;
  int turns = turns_until(pace, now, now + 200'000, 50, 2000);
  CHECK(now - begin == static_cast<std::uint64_t>(turns) * 50);
  // States are no blocks.
  turns_until(pace, now, now + 600'000, 50, 10);
  turns = turns_until(pace, now, now + 100 * kInterval, 50, 300);
  CHECK(turns <= 101);
}

TEST_CASE("rests do not keep a loop slow that has a window of blocks to move in each turn") {
  LoopPace pace(kInterval);
  std::uint64_t now = 1'000'000;
  turns_until(pace, now, now + 500'000, 50, 100);  // slow, and nothing saved
  turns_until(pace, now, now + 600'000, 50, 4 << 14);
  const std::uint64_t begin = now;
  const int turns = turns_until(pace, now, now + 100'000, 50, 4 << 14);
  CHECK(now - begin == static_cast<std::uint64_t>(turns) * 50);
}

TEST_CASE("what was quiet for a while answers at once") {
  LoopPace pace(kInterval);
  std::uint64_t now = 1'000'000;
  turns_until(pace, now, now + 500'000, 50, 100);
  now += LoopPace::kTurnsSaved * kInterval;
  for (std::uint64_t i = 0; i < LoopPace::kTurnsSaved; ++i) CHECK(pace.rest_us(now) == 0);
  CHECK(pace.rest_us(now) > 0);
}

TEST_CASE("a clock that stands still or starts at nothing is no trouble") {
  LoopPace pace(kInterval);
  std::uint64_t rest = 0;
  for (int i = 0; i < 100 && rest == 0; ++i) rest = pace.rest_us(0);
  CHECK(rest == kInterval);
}

}  // namespace
}  // namespace firn::proto::transport
