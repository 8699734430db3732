#include "proto/transport/loop_lag.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <deque>

#include "tests/transport/recorder.h"

namespace firn::proto::transport::test {
namespace {

// Turns of `busy_us` every `every_us`, for a second from `now`.
void take_turns(LoopLag& lag, std::uint64_t busy_us, std::uint64_t every_us, std::uint64_t& now) {
  for (const std::uint64_t end = now + 1'000'000; now < end;) {
    now += every_us;
    lag.turn(busy_us, now);
  }
}

TEST_CASE("a loop with more to do than it can is behind by its turns") {
  LoopLag lag;
  std::uint64_t now = 5'000'000;
  take_turns(lag, 80'000, 80'000, now);
  CHECK(lag.us() == 80'000);
}

TEST_CASE("a loop that waits most of the time is not behind") {
  LoopLag lag;
  std::uint64_t now = 5'000'000;
  take_turns(lag, 1000, 10'000, now);
  CHECK(lag.us() == 100);
}

TEST_CASE("one long turn among short ones does not move the lag, however long it is") {
  for (const std::uint64_t long_us : {50'000, 120'000, 249'000, 600'000}) {
    // Wherever in a window it comes.
    for (int before = 0; before < 250; before += 10) {
      CAPTURE(long_us);
      CAPTURE(before);
      LoopLag lag;
      std::uint64_t now = 5'000'000, most_us = 0;
      const auto turn = [&](std::uint64_t busy_us) {
        lag.turn(busy_us, now += busy_us);
        most_us = std::max(most_us, lag.us());
      };
      for (int i = 0; i < 1000 + before; ++i) turn(1000);
      turn(long_us);
      for (int i = 0; i < 1000; ++i) turn(1000);
      CHECK(most_us == 1000);
    }
  }
}

TEST_CASE("loops are behind together where at least half of them are") {
  std::deque<LoopLag> lags(4);
  const auto fall_behind = [](LoopLag& lag) {
    std::uint64_t now = 5'000'000;
    take_turns(lag, 80'000, 80'000, now);
  };
  CHECK_FALSE(half_are_behind(lags, 80'000));
  fall_behind(lags[1]);
  CHECK_FALSE(half_are_behind(lags, 80'000));
  fall_behind(lags[3]);
  CHECK(half_are_behind(lags, 80'000));
  CHECK_FALSE(half_are_behind(lags, 80'001));
  CHECK_FALSE(half_are_behind(std::deque<LoopLag>(), 80'000));
}

TEST_CASE("the lag is over when the work is") {
  LoopLag lag;
  std::uint64_t now = 5'000'000;
  take_turns(lag, 200'000, 200'000, now);
  CHECK(lag.us() == 200'000);
  take_turns(lag, 100, 250'000, now);
  CHECK(lag.us() == 0);
}

TEST_CASE("where the loops are behind connections are accepted late, but all of them") {
  Options options;
  options.overload_lag = std::chrono::microseconds(1);  // they nearly always are
  options.tick = std::chrono::milliseconds(1);
  Node server(options);
  const Address where = server.listen();
  Node client;
  std::vector<ConnectionId> all;
  for (int i = 0; i < 10; ++i) all.push_back(client.transport->connect(where));
  for (const ConnectionId id : all) CHECK(client.recorder.wait_open(id));
}

}  // namespace
}  // namespace firn::proto::transport::test
