#include "client/core/view/history.h"

#include <doctest/doctest.h>

#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;

TEST_CASE("that a peer had everything is remembered, also if no block to it has left so far") {
  Fixture fixture(plain_manifest(4, 4, 16));
  fixture.start(true);
  fixture.join(1, peer_id(1), 0, true);
  fixture.join(2, peer_id(2), 0);
  for (const core::PeerKey peer : {1, 2}) fixture.core.peer_closed(peer, fixture.now);
  const auto peers = fixture.core.report().neighbours;
  REQUIRE(peers.size() == 1);
  CHECK(peers.front().id == peer_id(1));
  CHECK(peers.front().complete);
}
