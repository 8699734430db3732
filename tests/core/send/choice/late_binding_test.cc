// How many blocks are chosen before they can leave.
#include "client/core/send/choice/late_binding.h"

#include <doctest/doctest.h>

#include <set>

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
  CHECK(waiting.size() == kBusy);
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
  CHECK(depth > 10);
  CHECK(depth < 200);
}

TEST_CASE("small blocks of a fast source go several at a time, to a bound") {
  using core::policy::blocks_at_once;
  CHECK(blocks_at_once(1000, 1024) == 1);
  CHECK(blocks_at_once(1e6, 65536) == 1);
  const std::uint32_t few = blocks_at_once(1e6, 4096), many = blocks_at_once(1e6, 1024);
  CHECK(few > 1);
  CHECK(many > few);
  CHECK(blocks_at_once(1e6, 1) == blocks_at_once(1e6, 2));
  CHECK(blocks_at_once(1e6, 1) < 1000);
}

TEST_CASE("what waits in a source's sockets does not sink with the rate where blocks go in runs") {
  using core::policy::busy_connections_source;
  const auto waiting = [](double rate, std::uint32_t at_once) {
    return busy_connections_source(rate, at_once, 4096) * at_once;
  };
  CHECK(waiting(1.1e5, 16) == waiting(1e5, 16));  // bytes, not time
  CHECK(waiting(1e5, 16) > waiting(1e5, 1));
  CHECK(waiting(1e7, 16) > waiting(1e5, 16));   // what it sends in a moment, if that is more
  CHECK(waiting(2000, 16) < waiting(1e5, 16));  // a slow one has less wait
  // One at a time: as many connections as blocks that are sent in a moment, and never one alone.
  CHECK(busy_connections_source(1, 1, 4096) > 1);
  CHECK(busy_connections_source(1e5, 1, 4096) > busy_connections_source(1, 1, 4096));
}

TEST_CASE(
    "a slow uplink has fewer blocks wait at a time than a fast one, and a relay than a source") {
  using namespace core::policy;
  std::uint32_t relay = busy_connections_relay(0), source = busy_connections_source(0, 1, 4096);
  CHECK(relay > 1);  // one that reads nothing does not hold up all
  const std::uint32_t slow = relay;
  for (double rate = 1; rate < 1e5; rate *= 1.2) {
    const std::uint32_t relay_before = relay, source_before = source;
    relay = busy_connections_relay(rate);
    source = busy_connections_source(rate, 1, 4096);
    CHECK(relay >= relay_before);
    CHECK(source >= source_before);
    CHECK(relay <= source);
  }
  CHECK(relay > slow);
  CHECK(relay < source);
}

TEST_CASE("a socket is waited for as long as all waiting blocks take, at least, and not for ever") {
  using core::policy::uplink_patience;
  CHECK(uplink_patience(100, 2) >= 20 * core::kMillisecond);  // for the two
  CHECK(uplink_patience(100, 2) < 100 * core::kMillisecond);
  CHECK(uplink_patience(100, 4) == 2 * uplink_patience(100, 2));
  const TimeUs unknown = uplink_patience(0, 3);
  CHECK(unknown > uplink_patience(100, 2));
  CHECK(unknown < 60 * kSecond);
  CHECK(uplink_patience(1e-3, 3) == unknown);
}
