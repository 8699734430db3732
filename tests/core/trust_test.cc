// Whose word counts: when a peer takes only blocks that their sender answers for, and what it
// answers for itself.
#include "client/core/policy/constants.h"
#include "tests/core/bench.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

namespace {

constexpr PeerKey kSpeaker = 1, kRelay = 2;

Bench vouched_bench() {
  return Bench(vouched_manifest(4, 4, 8192));
}

// The last State told to the peer.
proto::State told(Bench& bench, PeerKey peer) {
  bench.pass(kSecond);
  const std::vector<proto::State> states = bench.heard<proto::State>(peer);
  REQUIRE_FALSE(states.empty());
  return states.back();
}

// Whether a block that its sender does not answer for is taken.
bool takes_unproven(Bench& bench, PeerKey peer, proto::Block block) {
  const std::uint64_t before = bench.core.report().rank;
  block.unproven = true;
  bench.say(peer, std::move(block));
  return bench.core.report().rank > before;
}

}  // namespace

TEST_CASE("with an authority near, a peer of a small mesh takes only what is answered for") {
  Bench bench = vouched_bench();
  bench.start();
  bench.join_certified(kSpeaker, peer_id(1), peer_id(1));
  bench.join(kRelay, peer_id(2), 0, true);
  CHECK(told(bench, kRelay).proven_only);
  CHECK_FALSE(takes_unproven(bench, kRelay, bench.block(0, 1, 0)));
  CHECK_FALSE(bench.closed(kRelay));  // it is no fault
  bench.say(kRelay, bench.block(0, 2, 0));
  CHECK(bench.core.report().rank == 1);
}

TEST_CASE("a peer that starves beside a silent authority takes any block until it is heard again") {
  Bench bench = vouched_bench();
  bench.start();
  bench.join_certified(kSpeaker, peer_id(1), peer_id(1));
  bench.join(kRelay, peer_id(2), 0, true);
  bench.pass(policy::kStarvingTime / 2);
  CHECK_FALSE(takes_unproven(bench, kRelay, bench.block(0, 1, 0)));
  bench.pass(policy::kStarvingTime);
  CHECK(takes_unproven(bench, kRelay, bench.block(0, 2, 1)));
  bench.pass(core::kSecond);
  bench.say(kSpeaker, proto::State{});
  bench.pass(core::kSecond);
  CHECK(bench.heard<proto::State>(kRelay).back().proven_only);
}

TEST_CASE("where no authority is found a peer takes any block after a while") {
  Bench bench = vouched_bench();
  bench.start();
  bench.join(kRelay, peer_id(2), 0, true);
  CHECK(told(bench, kRelay).proven_only);
  CHECK_FALSE(takes_unproven(bench, kRelay, bench.block(0, 1, 0)));
  bench.pass(policy::kStallVoid);
  const std::vector<proto::State> states = bench.heard<proto::State>(kRelay);
  REQUIRE_FALSE(states.empty());
  CHECK_FALSE(states.back().proven_only);
  CHECK(takes_unproven(bench, kRelay, bench.block(0, 2, 1)));
}

TEST_CASE("once the authority has left, a peer stays strict while answered blocks come") {
  Bench bench = vouched_bench();
  bench.start();
  bench.join_certified(kSpeaker, peer_id(1), peer_id(1));
  bench.join(kRelay, peer_id(2), 0, true);
  bench.pass(kSecond);
  bench.core.peer_closed(kSpeaker, bench.now);
  std::uint32_t sequence = 0;
  for (std::uint32_t i = 0; i < 6; ++i) {
    bench.pass(kSecond);
    CHECK_FALSE(takes_unproven(bench, kRelay, bench.block(i / 3, ++sequence, 3)));
    bench.say(kRelay, bench.block(i / 3, ++sequence, i % 3));
  }
  CHECK(bench.core.report().rank == 6);
  bench.pass(policy::kStallVoid + kSecond);
  CHECK(takes_unproven(bench, kRelay, bench.block(3, ++sequence, 3)));
}

TEST_CASE("in a large mesh a peer takes any block, with an authority too") {
  Bench bench = vouched_bench();
  bench.start();
  bench.join_certified(kSpeaker, peer_id(1), peer_id(1));
  for (std::uint32_t i = 0; i < policy::kSmallMesh + 4; ++i) {
    bench.join(10 + i, numbered(200 + i), 0, true);
  }
  CHECK_FALSE(told(bench, 10).proven_only);
  CHECK(takes_unproven(bench, 10, bench.block(0, 1, 0)));
}

TEST_CASE("a certificate made for another peer proves nothing") {
  Bench bench = vouched_bench();
  bench.start();
  bench.join_certified(kSpeaker, peer_id(1), peer_id(3));
  bench.pass(policy::kStallVoid + kSecond);
  CHECK_FALSE(bench.closed(kSpeaker));
  CHECK(takes_unproven(bench, kSpeaker, bench.block(0, 1, 0)));
}

TEST_CASE("of a content without an authority any block is taken, whatever certificate is shown") {
  Bench bench(plain_manifest(4, 4, 8192));
  bench.start();
  bench.join_certified(kSpeaker, peer_id(1), peer_id(1));
  CHECK_FALSE(told(bench, kSpeaker).proven_only);
  CHECK(takes_unproven(bench, kSpeaker, bench.block(0, 1, 0)));
}

TEST_CASE("a neighbour that takes only answered blocks gets mixes of proven rows alone") {
  Bench bench = vouched_bench();
  bench.start();
  bench.join_certified(kSpeaker, peer_id(1), peer_id(1));
  bench.join(kRelay, peer_id(2), 0, true);
  bench.pass(300 * kMillisecond);
  bench.say(kSpeaker, bench.block(0, 1, 0));
  bench.say(kRelay, bench.block(0, 1, 1));
  REQUIRE(bench.core.report().rank == 2);
  for (const bool proven_only : {true, false}) {
    CAPTURE(proven_only);
    const PeerKey taker = proven_only ? 3 : 4;
    bench.open(taker, peer_id(static_cast<std::uint8_t>(taker)));
    proto::State state;
    state.credit = 8;
    state.proven_only = proven_only;
    bench.say(taker, state);
    bench.pass(300 * kMillisecond);
    const auto blocks = bench.blocks_to(taker);
    REQUIRE_FALSE(blocks.empty());
    for (const core::SendBlock& send : blocks) {
      CHECK(send.block.unproven == !proven_only);
      CHECK(send.slots.size() == (proven_only ? 1 : 2));
    }
  }
}
