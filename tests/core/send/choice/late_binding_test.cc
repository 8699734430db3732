// How many blocks are chosen before they can leave.
#include "client/core/send/choice/late_binding.h"

#include <doctest/doctest.h>

#include <set>

#include "client/core/base/constants.h"
#include "tests/core/send/choice/scene.h"

using namespace firn;
using namespace firn::test;
using core::Neighbour;
using core::policy::SourcePolicy;

TEST_CASE("blocks wait on few sockets at a time, one on each unless they are fast") {
  Scene s(100, 4, 6, true);
  SourcePolicy source(shape_of(100, 4), false);
  std::set<core::PeerKey> waiting;
  while (const auto choice = s.choose(source, true)) {
    CHECK(waiting.insert(choice->peer).second);
    s.peer(choice->peer).book_block(choice->generation, s.now);
    source.served(*choice, s.now);
  }
  CHECK(waiting.size() == core::policy::kBusyConnections);
  // A fast one: 5 ms hold fifty blocks of it.
  Scene fast(100, 64, 1, true);
  Neighbour& one = fast.peer(1);
  for (int i = 0; i < 5000; ++i) {
    one.book_block(0, fast.now);
    one.block_departed(kBlockBytes, fast.now += 100);
  }
  std::uint32_t depth = 0;
  while (!core::policy::why_no_room(one, fast.sockets())) {
    one.book_block(0, fast.now);
    ++depth;
  }
  CHECK(depth >= 30);
  CHECK(depth <= core::policy::kPipelineMax);
}

TEST_CASE("small blocks of a fast source go several at a time") {
  using core::policy::blocks_at_once;
  using core::policy::kRunRate;
  CHECK(blocks_at_once(kRunRate - 1, 4096) == 1);
  CHECK(blocks_at_once(kRunRate, 4096) == 16);
  CHECK(blocks_at_once(kRunRate, 1024) == 64);
  CHECK(blocks_at_once(kRunRate, 256) == core::policy::kPipelineMax);
  CHECK(blocks_at_once(1e6, 16384) == 1);
  CHECK(blocks_at_once(1e6, 65536) == 1);
}

TEST_CASE("what waits in a source's sockets does not sink with the rate where blocks go in runs") {
  using core::policy::busy_connections_source;
  using core::policy::kBusyConnectionsSource;
  using core::policy::kRunsWaiting;
  for (const double rate : {3e4, 1e5, 2e5}) {
    const std::uint32_t at_once = core::policy::blocks_at_once(rate, 4096);
    CHECK(busy_connections_source(rate, at_once, 4096) == kRunsWaiting / 4096 / at_once);
  }
  CHECK(busy_connections_source(2e6, 16, 4096) == 250);    // 2 ms of it
  CHECK(busy_connections_source(16'000, 16, 4096) == 20);  // what it sends in 20 ms
  // One at a time: as many connections as blocks that are sent in those 2 ms.
  CHECK(busy_connections_source(100, 1, 4096) == kBusyConnectionsSource);
  CHECK(busy_connections_source(1e5, 1, 16384) == 200);
}

TEST_CASE("a slow uplink has fewer blocks wait at a time than a fast one") {
  CHECK(core::policy::busy_connections_max(3.8, true) == core::policy::kBusyConnectionsMin);
  CHECK(core::policy::busy_connections_max(40, true) == 2);
  CHECK(core::policy::busy_connections_max(61, true) == 3);
  CHECK(core::policy::busy_connections_max(61, false) == 2);
  CHECK(core::policy::busy_connections_max(6e4, true) == core::policy::kBusyConnections);
  CHECK(core::policy::uplink_patience(100, 2) == 30 * core::kMillisecond);  // 20 ms for the two
  CHECK(core::policy::uplink_patience(0, 3) == core::policy::kStuckTime);   // not known
  CHECK(core::policy::busy_connections_max(0, true) ==
        core::policy::kBusyConnections);  // not known
}
