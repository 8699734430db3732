// Messages that were recorded in an earlier run, and are said again by somebody else.
#include <doctest/doctest.h>

#include "tests/core/trust/large_mesh_fixture.h"

using namespace firn;
using namespace firn::test;

namespace {

constexpr PeerKey kStranger = 1, kVictim = 2;

// A peer of a large mesh between a stranger and the peer that said all this once.
struct RecordFixture : LargeMeshFixture {
  RecordFixture() {
    begin();
    join(kStranger, numbered(1), 100, true);
    join(kVictim, numbered(2), 100, true);
    pass(300 * kMillisecond);
  }
  bool victim_is_banned() {
    const PeerKey again = 100;
    if (closed(kVictim)) return true;
    connect(again, numbered(2));  // its other connection is the same peer's
    for (const proto::Goodbye& goodbye : heard<proto::Goodbye>(again))
      if (goodbye.reason == proto::GoodbyeReason::kBanned) return true;
    return false;
  }
};

}  // namespace

TEST_CASE("a recorded message of any kind convicts nobody but who says it again") {
  RecordFixture fixture;
  proto::PeerMessage message;
  SUBCASE("a State that accuses") {
    proto::State state;
    state.convicted = {numbered(2).prefix()};
    message = state;
  }
  SUBCASE("a block") {
    message = fixture.block(0, 1, 0);
  }
  SUBCASE("check sums") {
    message = proto::CheckReply{0, std::vector<std::uint8_t>(32, 1),
                                std::vector<std::uint8_t>(LargeMeshFixture::kBlocks * 4, 2)};
  }
  SUBCASE("leaves") {
    message = proto::LeafReply{0, std::vector<Digest>(LargeMeshFixture::kBlocks)};
  }
  SUBCASE("what the last version said") {
    message = proto::PassedOver{7};
  }
  SUBCASE("a goodbye to a banned peer") {
    message = proto::Goodbye{proto::GoodbyeReason::kBanned, ""};
  }
  SUBCASE("a proof of a secret") {
    message = proto::PrivateProof{};
  }
  fixture.say(kStranger, std::move(message));
  fixture.pass(2 * kSecond);
  CHECK_FALSE(fixture.victim_is_banned());
}

// Else they send each Epoch to each neighbour.
TEST_CASE("peers of the last version are told the highest number of an Epoch that came") {
  RecordFixture fixture;
  const auto told = [&] {
    fixture.pass(2 * kSecond);
    fixture.say(kStranger, fixture.block(0, 1, 0));
    fixture.pass(2 * kSecond);
    const auto states = fixture.heard<proto::State>(kVictim);
    REQUIRE_FALSE(states.empty());
    return states.back().epoch;
  };
  CHECK(told() == 0);
  fixture.say(kStranger, proto::PassedOver{7});
  fixture.say(kVictim, proto::PassedOver{5});
  fixture.say(kVictim, proto::PassedOver{});  // of another kind
  CHECK(told() == 7);
}

TEST_CASE("a message of an unknown kind is no fault, and its bytes count") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  fixture.open(1, peer_id(1));
  const std::uint64_t before = fixture.core.report().bytes_received;
  fixture.core.message(1, proto::PassedOver{}, 5000, fixture.now);
  fixture.drain();
  CHECK(fixture.core.report().bytes_received == before + 5000);
  CHECK_FALSE(fixture.closed(1));
}
