// Whose word counts: when a peer takes only blocks that their sender answers for, and what it
// answers for itself.
#include "proto/base/limits.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;

namespace {

constexpr PeerKey kVoucher = 1, kRelay = 2;

Fixture vouched_bench() {
  return Fixture(vouched_manifest(4, 4, 8192));
}

// The last State told to the peer.
proto::State last_told(Fixture& fixture, PeerKey peer) {
  fixture.pass(kSecond / 2);
  std::vector<proto::State> states = fixture.heard<proto::State>(peer);
  for (int waits = 0; states.empty() && waits < 1000; ++waits) {
    fixture.pass(20 * kMillisecond);
    states = fixture.heard<proto::State>(peer);
  }
  REQUIRE_FALSE(states.empty());
  return states.back();
}

// Whether a block that its sender does not answer for is taken.
bool takes_unproven(Fixture& fixture, PeerKey peer, proto::Block block) {
  const std::uint64_t before = fixture.core.report().rank;
  block.unproven = true;
  fixture.say(peer, std::move(block));
  return fixture.core.report().rank > before;
}

}  // namespace

TEST_CASE("with an authority near, a peer of a small mesh takes only what is answered for") {
  Fixture fixture = vouched_bench();
  fixture.start();
  fixture.join_certified(kVoucher, peer_id(1), peer_id(1));
  fixture.join(kRelay, peer_id(2), 0, true);
  CHECK(last_told(fixture, kRelay).proven_only);
  CHECK_FALSE(takes_unproven(fixture, kRelay, fixture.block(0, 1, 0)));
  CHECK_FALSE(fixture.closed(kRelay));  // it is no fault
  fixture.say(kRelay, fixture.block(0, 2, 0));
  CHECK(fixture.core.report().rank == 1);
}

TEST_CASE("a peer that starves beside a silent authority takes any block until it is heard again") {
  Fixture fixture = vouched_bench();
  fixture.start();
  fixture.join_certified(kVoucher, peer_id(1), peer_id(1));
  fixture.join(kRelay, peer_id(2), 0, true);
  fixture.pass(facts::kStarves / 2);
  CHECK_FALSE(takes_unproven(fixture, kRelay, fixture.block(0, 1, 0)));
  fixture.pass(facts::kStarves);
  CHECK(takes_unproven(fixture, kRelay, fixture.block(0, 2, 1)));
  fixture.pass(core::kSecond);
  fixture.say(kVoucher, proto::State{});
  fixture.pass(core::kSecond);
  CHECK(fixture.heard<proto::State>(kRelay).back().proven_only);
}

TEST_CASE("where no authority is found a peer takes any block after a while") {
  Fixture fixture = vouched_bench();
  fixture.start();
  fixture.join(kRelay, peer_id(2), 0, true);
  CHECK(last_told(fixture, kRelay).proven_only);
  CHECK_FALSE(takes_unproven(fixture, kRelay, fixture.block(0, 1, 0)));
  fixture.pass(facts::kNoAuthority);
  const std::vector<proto::State> states = fixture.heard<proto::State>(kRelay);
  REQUIRE_FALSE(states.empty());
  CHECK_FALSE(states.back().proven_only);
  CHECK(takes_unproven(fixture, kRelay, fixture.block(0, 2, 1)));
}

namespace {

// All but the last generation.
void join_lacking_one(Fixture& fixture) {
  fixture.join(kRelay, peer_id(2), 0);
  fixture.say_state(kRelay, 0, 0, {}, {{0, 3}});
}

}  // namespace

TEST_CASE("once the authority has left, a peer stays strict while answered blocks come") {
  for (const bool restarted : {false, true}) {
    CAPTURE(restarted);
    Fixture fixture = vouched_bench();
    std::uint32_t rank = 0;
    if (restarted) {
      core::StartState state;
      state.verified.assign(4, false);
      state.rows = {{3, 0, {1, 0, 0, 0}, peer_id(1), core::Standing::kProven}};
      fixture.core.start(fixture.manifest, state, false, fixture.now);
      fixture.drain();
      join_lacking_one(fixture);
      rank = 1;
    } else {
      fixture.start();
      fixture.join_certified(kVoucher, peer_id(1), peer_id(1));
      join_lacking_one(fixture);
      fixture.pass(kSecond);
      fixture.core.peer_closed(kVoucher, fixture.now);
    }
    std::uint32_t sequence = 0;
    for (std::uint32_t i = 0; i < 6; ++i) {
      fixture.pass(facts::kNoAuthority / 4);
      CHECK_FALSE(takes_unproven(fixture, kRelay, fixture.block(i / 3, ++sequence, 3)));
      fixture.say(kRelay, fixture.block(i / 3, ++sequence, i % 3));
    }
    CHECK(fixture.core.report().rank == rank + 6);
    fixture.pass(facts::kNoAuthority);
    CHECK(takes_unproven(fixture, kRelay, fixture.block(0, ++sequence, 3)));
    // What it took was false.
    fixture.core.generation_decoded(0, core::DecodeOutcome::kCorrupt, fixture.now);
    CHECK(last_told(fixture, kRelay).proven_only);
  }
}

// Such a peer can tell for any row whether it is true.
TEST_CASE("once the authority has left, a peer does not stay strict beside one that holds all") {
  Fixture fixture = vouched_bench();
  fixture.start();
  fixture.join_certified(kVoucher, peer_id(1), peer_id(1));
  fixture.join(kRelay, peer_id(2), 0, true);
  fixture.pass(kSecond);
  fixture.core.peer_closed(kVoucher, fixture.now);
  std::uint32_t sequence = 0;
  for (std::uint32_t i = 0; i < 3; ++i) {
    fixture.pass(facts::kNoAuthority / 3);
    fixture.say(kRelay, fixture.block(0, ++sequence, i));
  }
  CHECK_FALSE(last_told(fixture, kRelay).proven_only);
  CHECK(takes_unproven(fixture, kRelay, fixture.block(0, ++sequence, 3)));
  // It is one that has told nothing: it may only claim to hold all.
  fixture.core.generation_decoded(0, core::DecodeOutcome::kCorrupt, fixture.now);
  CHECK_FALSE(last_told(fixture, kRelay).proven_only);
  fixture.pass(facts::kTruthAwaited);
  for (std::uint32_t i = 0; i < 4; ++i) {
    REQUIRE(takes_unproven(fixture, kRelay, fixture.block(1, ++sequence, i)));
  }
  fixture.core.generation_decoded(1, core::DecodeOutcome::kCorrupt, fixture.now);
  CHECK(last_told(fixture, kRelay).proven_only);
}

TEST_CASE("in a large mesh a peer takes any block, with an authority too") {
  Fixture fixture = vouched_bench();
  fixture.start();
  fixture.join_certified(kVoucher, peer_id(1), peer_id(1));
  for (std::uint32_t i = 0; i < facts::kLargeMesh; ++i) {
    fixture.join(10 + i, numbered(200 + i), 0, true);
  }
  CHECK_FALSE(last_told(fixture, 10).proven_only);
  CHECK(takes_unproven(fixture, 10, fixture.block(0, 1, 0)));
}

TEST_CASE("a certificate made for another peer proves nothing") {
  Fixture fixture = vouched_bench();
  fixture.start();
  fixture.join_certified(kVoucher, peer_id(1), peer_id(3));
  fixture.pass(facts::kNoAuthority);
  CHECK_FALSE(fixture.closed(kVoucher));
  CHECK(takes_unproven(fixture, kVoucher, fixture.block(0, 1, 0)));
}

TEST_CASE("a certificate for another content, or by another authority, proves nothing") {
  ContentId other = vouched_manifest(4, 4, 8192).id;
  other.bytes[3] ^= 1;
  const std::array<std::uint8_t, kSigningKeyBytes> stranger{10};
  for (const bool of_other_content : {false, true}) {
    CAPTURE(of_other_content);
    Fixture fixture = vouched_bench();
    fixture.start();
    fixture.join_certified(
        kVoucher, peer_id(1),
        of_other_content ? make_certificate(other, peer_id(1), kAuthoritySecret).value()
                         : make_certificate(fixture.manifest.id, peer_id(1), stranger).value());
    fixture.join(kRelay, peer_id(2), 0, true);
    // Its word does not count: nobody asks it for sums, and an authority is not waited for.
    proto::Block block = fixture.block(0, 1, 0);
    fixture.say(kRelay, std::move(block));
    fixture.pass(facts::kNoAuthority);
    CHECK(fixture.heard<proto::CheckRequest>(kVoucher).empty());
    CHECK_FALSE(fixture.closed(kVoucher));  // it is no fault
    CHECK(takes_unproven(fixture, kVoucher, fixture.block(0, 1, 1)));
    // It has sums of the other content perhaps, which nobody wants.
    fixture.say(kVoucher, proto::CheckReply{0, std::vector<std::uint8_t>(limits::kCheckKeyBytes, 5),
                                            std::vector<std::uint8_t>(16, 6)});
    CHECK(fixture.take<core::JudgeRows>().empty());
    CHECK(fixture.core.report().rank == 2);
  }
}

TEST_CASE("of a content without an authority any block is taken, whatever certificate is shown") {
  Fixture fixture(plain_manifest(4, 4, 8192));
  fixture.start();
  fixture.join_certified(kVoucher, peer_id(1), peer_id(1));
  CHECK_FALSE(last_told(fixture, kVoucher).proven_only);
  CHECK(takes_unproven(fixture, kVoucher, fixture.block(0, 1, 0)));
}

TEST_CASE("a neighbour that takes only answered blocks gets mixes of proven rows alone") {
  Fixture fixture = vouched_bench();
  fixture.start();
  fixture.join_certified(kVoucher, peer_id(1), peer_id(1));
  fixture.join(kRelay, peer_id(2), 0, true);
  fixture.pass(300 * kMillisecond);
  fixture.say(kVoucher, fixture.block(0, 1, 0));
  fixture.say(kRelay, fixture.block(0, 1, 1));
  REQUIRE(fixture.core.report().rank == 2);
  for (const bool proven_only : {true, false}) {
    CAPTURE(proven_only);
    const PeerKey taker = proven_only ? 3 : 4;
    fixture.open(taker, peer_id(static_cast<std::uint8_t>(taker)));
    proto::State state;
    state.credit = 8;
    state.proven_only = proven_only;
    fixture.say(taker, state);
    fixture.pass(300 * kMillisecond);
    const auto blocks = fixture.blocks_to(taker);
    REQUIRE_FALSE(blocks.empty());
    for (const core::SendBlock& send : blocks) {
      CHECK(send.block.unproven == !proven_only);
      CHECK(send.slots.size() == (proven_only ? 1 : 2));
    }
  }
}

// Of the last version: it takes no block that its sender has not signed.
TEST_CASE("a neighbour that wants claims is sent nothing, unless by a peer of the authority") {
  for (const bool certified : {false, true}) {
    CAPTURE(certified);
    core::Options options = plain_options();
    const Manifest content = vouched_manifest(4, 4, 8192);
    if (certified)
      options.certificate = make_certificate(content.id, options.self, kAuthoritySecret).value();
    Fixture fixture(content, options);
    fixture.start(true);
    fixture.open(kRelay, peer_id(2));
    proto::State state;
    state.credit = 8;
    state.wants_claims = true;
    fixture.say(kRelay, state);
    fixture.pass(kSecond);
    CHECK(fixture.blocks_to(kRelay).empty() != certified);
    state.credit = 16;
    state.wants_claims = false;
    fixture.say(kRelay, state);
    fixture.pass(kSecond);
    CHECK_FALSE(fixture.blocks_to(kRelay).empty());
  }
}
