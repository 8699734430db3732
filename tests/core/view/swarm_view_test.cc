// What a page is told of a swarm.
#include "client/core/view/swarm_view.h"

#include <doctest/doctest.h>

#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::FillingGeneration;
using core::SwarmView;
using State = FillingGeneration::State;

TEST_CASE("before the shape is known a view has peers alone") {
  Fixture fixture(plain_manifest(4, 8, 16));
  fixture.open(1, peer_id(1));
  const SwarmView view = fixture.core.view();
  CHECK(view.peers.size() == 1);
  CHECK(view.verified.size() == 0);
  CHECK(view.generation_size == 0);
  CHECK(view.filling.empty());
}

TEST_CASE("a generation that fills tells its rank and its senders, then that it stands still") {
  Fixture fixture(plain_manifest(4, 8, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  fixture.join(2, peer_id(2), 0, true);
  fixture.say(1, fixture.block(2, 1, 0));
  fixture.say(1, fixture.block(2, 2, 1));
  fixture.say(2, fixture.block(2, 1, 2));
  const SwarmView view = fixture.core.view();
  CHECK(view.generation_size == 8);
  CHECK(view.last_blocks == 8);
  CHECK(view.verified.size() == 4);
  REQUIRE(view.filling.size() == 1);
  const FillingGeneration& filling = view.filling.front();
  CHECK(filling.number == 2);
  CHECK(filling.rank == 3);
  CHECK(filling.blocks == 8);
  CHECK(filling.state == State::kInFlight);
  REQUIRE(filling.senders.size() == 2);
  CHECK(filling.senders[0].id == peer_id(1));
  CHECK(filling.senders[0].rows == 2);
  CHECK(filling.senders[1].rows == 1);
  fixture.pass(FillingGeneration::kStalledTime + kSecond);
  CHECK(fixture.core.view().filling.front().state == State::kStalled);
}

TEST_CASE("a full generation is being decoded, and then verified") {
  Fixture fixture(plain_manifest(2, 2, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  fixture.say(1, fixture.block(1, 1, 0));
  fixture.say(1, fixture.block(1, 2, 1));
  REQUIRE(fixture.core.view().filling.size() == 1);
  CHECK(fixture.core.view().filling.front().state == State::kDecoding);
  fixture.core.generation_decoded(1, core::DecodeOutcome::kVerified, fixture.now);
  const SwarmView view = fixture.core.view();
  CHECK(view.filling.empty());
  CHECK(view.verified.contains(1));
  CHECK(!view.verified.contains(0));
}

TEST_CASE("a banned peer is shown with the reason, until the ban is over") {
  Fixture fixture(plain_manifest(4, 8, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  fixture.say(1, fixture.block(0, 1, 0));
  fixture.core.peer_broke_protocol(1, "rubbish", fixture.now);
  fixture.drain();
  const SwarmView view = fixture.core.view();
  CHECK(view.peers.empty());
  REQUIRE(view.bans.size() == 1);
  CHECK(view.bans[0].id == peer_id(1));
  CHECK(view.bans[0].ip == "192.0.2.1");
  CHECK(view.bans[0].strikes == 1);
  CHECK(view.bans[0].why.find("rubbish") != std::string::npos);
  fixture.pass(view.bans[0].left + kSecond);
  CHECK(fixture.core.view().bans.empty());
}
