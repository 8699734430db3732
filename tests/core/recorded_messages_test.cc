// Messages that were recorded in an earlier run, and are said again by somebody else.
#include <doctest/doctest.h>

#include "proto/block_claim.h"
#include "tests/core/epoch_fixture.h"

using namespace firn;
using namespace firn::test;

namespace {

constexpr PeerKey kStranger = 1, kVictim = 2;
constexpr IdentitySecret kVictimSecret{20};

// A peer of a large mesh between a stranger and the peer that said all this once.
struct RecordFixture : EpochFixture {
  RecordFixture() {
    begin();
    join(kStranger, numbered(1), 100, true);
    join(kVictim, id_of(kVictimSecret), 100, true);
    pass(300 * kMillisecond);
  }
  bool victim_is_banned() {
    const PeerKey again = 100;
    if (closed(kVictim)) return true;
    connect(again, id_of(kVictimSecret));  // its other connection is the same peer's
    for (const proto::Goodbye& goodbye : heard<proto::Goodbye>(again))
      if (goodbye.reason == proto::GoodbyeReason::kBanned) return true;
    return false;
  }
  proto::Epoch convicting(std::uint64_t number) const {
    proto::Epoch epoch = unsigned_epoch(number, true);
    epoch.convicted = {id_of(kVictimSecret)};
    return epoch;
  }
  // By the victim, about a false block.
  proto::BlockClaim claim() const {
    proto::Block block;
    block.source_index = 0;
    block.payload = proto::Payload::allocate(1);
    return make_claim(
        block, {manifest.id, *PublicKey::from_bytes(*public_key_of(kVictimSecret)), kVictimSecret});
  }
};

}  // namespace

TEST_CASE("what the authority said in an earlier run convicts nobody, what it says now does") {
  RecordFixture fixture;
  fixture.say(kStranger, fixture.said(fixture.convicting(7)));
  fixture.pass(kSecond);
  CHECK_FALSE(fixture.closed(kVictim));
  fixture.say(kStranger, fixture.said(fixture.naming_nonce(kStranger, fixture.convicting(8))));
  CHECK(fixture.closed(kVictim));
}

TEST_CASE("a proof that comes behind its Epoch shows that this is of now") {
  RecordFixture fixture;
  fixture.say(kStranger, fixture.epoch(7));
  const auto requests = fixture.heard<proto::EpochRequest>(kStranger);
  REQUIRE(requests.size() == 1);
  const std::vector<proto::Nonce> list = {*requests[0].nonce, nonce_of(9)};
  fixture.pass(kSecond);
  proto::Epoch now = fixture.convicting(8);
  now.heard = {{hash_of(list), 0}};
  fixture.say(kStranger, fixture.said(now));
  CHECK_FALSE(fixture.closed(kVictim));
  fixture.say(kStranger, proto::EpochProof{8, {list}});
  CHECK(fixture.closed(kVictim));
}

TEST_CASE("a recorded message of any kind convicts nobody but who says it again") {
  RecordFixture fixture;
  proto::PeerMessage message;
  SUBCASE("a State that accuses") {
    proto::State state;
    state.convicted = {id_of(kVictimSecret).prefix()};
    message = state;
  }
  SUBCASE("a block with its claim") {
    proto::Block block = fixture.block(0, 1, 0);
    block.claim = fixture.claim();
    message = std::move(block);
  }
  SUBCASE("a claim about a false block") {
    message = proto::FalseClaim{0, 0, {}, fixture.claim()};
  }
  SUBCASE("check sums") {
    message = proto::CheckReply{0, std::vector<std::uint8_t>(32, 1),
                                std::vector<std::uint8_t>(EpochFixture::kBlocks * 4, 2)};
  }
  SUBCASE("leaves") {
    message = proto::LeafReply{0, std::vector<Digest>(EpochFixture::kBlocks)};
  }
  SUBCASE("an Epoch") {
    message = fixture.said(fixture.convicting(7));
  }
  SUBCASE("an Epoch's proof") {
    fixture.say(kStranger, fixture.said(fixture.convicting(7)));
    message = proto::EpochProof{7, {{nonce_of(1)}}};
  }
  SUBCASE("a request for an Epoch under alarm") {
    message = proto::EpochRequest{nonce_of(1), true, {0}};
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
