#include "proto/transport/loop_load.h"

#include <doctest/doctest.h>

#include <deque>
#include <vector>

namespace firn::proto::transport::test {
namespace {

// Runs each loop for its share of a second.
void run(std::deque<LoopLoad>& loads, const std::vector<double>& shares, std::uint64_t& now_us,
         std::vector<std::uint64_t>& ran_us) {
  for (int window = 0; window < 4; ++window) {
    now_us += LoopLoad::kWindowUs;
    for (std::size_t i = 0; i < loads.size(); ++i) {
      ran_us[i] += static_cast<std::uint64_t>(shares[i] * LoopLoad::kWindowUs);
      loads[i].ran(ran_us[i], now_us);
    }
  }
}

// `count` connections that come at once: how many go to each loop.
std::vector<int> place(std::deque<LoopLoad>& loads, int count) {
  std::vector<int> placed(loads.size());
  for (int i = 0; i < count; ++i) {
    const std::size_t loop = least_loaded(loads);
    loads[loop].opened();
    ++placed[loop];
  }
  return placed;
}

TEST_CASE("loops that do nothing get as many connections each") {
  std::deque<LoopLoad> loads(4);
  CHECK(place(loads, 10) == std::vector<int>{3, 3, 2, 2});
}

TEST_CASE("one heavy connection weighs as much as several light ones") {
  std::deque<LoopLoad> loads(2);
  std::uint64_t now_us = 1'000'000;
  std::vector<std::uint64_t> ran_us(2);
  CHECK(place(loads, 4) == std::vector<int>{2, 2});
  run(loads, {0.9, 0.1}, now_us, ran_us);
  CHECK(loads[0].busy() > 0.7);
  // The mean is 0.2 of a core: with three more the other loop comes to as much.
  CHECK(place(loads, 3) == std::vector<int>{0, 3});
  const std::vector<int> more = place(loads, 6);
  CHECK(more[0] >= 2);
  CHECK(more[1] >= 2);
}

TEST_CASE("a loop that has slept is not busy") {
  std::deque<LoopLoad> loads(1);
  std::uint64_t now_us = 1'000'000;
  std::vector<std::uint64_t> ran_us(1);
  place(loads, 1);
  run(loads, {1.0}, now_us, ran_us);
  CHECK(loads[0].busy() > 0.7);
  loads[0].ran(ran_us[0] + 1000, now_us + 60'000'000);
  CHECK(loads[0].busy() < 0.01);
}

TEST_CASE("what a loop did before its connections ended does not count") {
  std::deque<LoopLoad> loads(2);
  std::uint64_t now_us = 1'000'000;
  std::vector<std::uint64_t> ran_us(2);
  place(loads, 2);
  run(loads, {1.0, 0.1}, now_us, ran_us);
  CHECK(least_loaded(loads) == 1);
  loads[0].closed();
  CHECK(least_loaded(loads) == 0);
}

TEST_CASE("a loop tells how long it ran four times a second") {
  LoopLoad load;
  CHECK(load.due(LoopLoad::kWindowUs));
  load.ran(0, 1'000'000);
  CHECK_FALSE(load.due(1'000'000 + LoopLoad::kWindowUs - 1));
  CHECK(load.due(1'000'000 + LoopLoad::kWindowUs));
}

}  // namespace
}  // namespace firn::proto::transport::test
