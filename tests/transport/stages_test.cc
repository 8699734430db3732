// Which stages I/O threads are in, so that a profile explains their processor time.
#include <doctest/doctest.h>

#include <atomic>

#include "proto/base/stage_times.h"
#include "tests/transport/recorder.h"

namespace firn::proto::transport::test {
namespace {

TEST_CASE("turns of connections, orders and waiting have stages of their own") {
  StageClock clock;
  Options options;
  options.stages = &clock;
  std::atomic<Stage> on_arrival = Stage::kNone;
  Node server, client(options);
  client.recorder.frame_hook = [&](ConnectionId, std::span<const std::uint8_t>) {
    on_arrival = current_stage();
    return Status(Done{});
  };
  const ConnectionId out = client.transport->connect(server.listen());
  REQUIRE(client.recorder.wait_open(out));
  const ConnectionId in = server.recorder.wait_first();
  REQUIRE(server.recorder.wait_open(in));
  client.transport->send(out, frame_of({1, 2, 3}));
  server.transport->send(in, frame_of({4, 5, 6}));
  REQUIRE(server.recorder.wait_frames(in, 1));
  REQUIRE(client.recorder.wait_frames(out, 1));
  CHECK(on_arrival == Stage::kSockets);
  const StageCounts entered = clock.counts();
  for (const Stage stage : {Stage::kWaits, Stage::kOrders, Stage::kSockets, Stage::kTls}) {
    INFO(name(stage));
    CHECK(entered[static_cast<std::size_t>(stage)] > 0);
  }
}

}  // namespace
}  // namespace firn::proto::transport::test
