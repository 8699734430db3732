#include "proto/transport/loop_lag.h"

#include <doctest/doctest.h>

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

TEST_CASE("one long turn among short ones moves the lag little") {
  LoopLag lag;
  std::uint64_t now = 5'000'000;
  take_turns(lag, 1000, 1000, now);
  lag.turn(50'000, now += 50'000);
  take_turns(lag, 1000, 1000, now);
  CHECK(lag.us() <= 11'000);
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
