// Claims about blocks under alarm: who asks for them, who makes them, and how a false one gets to
// the authority and its verdict to everybody.
#include "proto/block_claim.h"

#include <algorithm>

#include "proto/base/signing_key.h"
#include "tests/core/epoch_fixture.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

namespace {

constexpr PeerKey kUpstreamPeer = 1, kSenderPeer = 2, kOtherPeer = 3, kLastPeer = 6;
constexpr IdentitySecret kSenderSecret{20}, kStrangerSecret{21};

Claimant claimant(const Manifest& manifest, const IdentitySecret& secret) {
  return {manifest.id, *PublicKey::from_bytes(*public_key_of(secret)), secret};
}

// A claim that somebody has made of a block of generation 0.
proto::FalseClaim claim_by(const Manifest& manifest, const IdentitySecret& secret,
                           std::uint32_t source_index = 0) {
  proto::Block block;
  block.source_index = source_index;
  block.payload = proto::Payload::allocate(1);
  block.payload.writable()[0] = 1;
  return {0, source_index, {}, make_claim(block, claimant(manifest, secret))};
}

// A peer of a large mesh that an Epoch has told of false rows. Epochs come from kUpstreamPeer;
// kSenderPeer has an identity, and so may sign.
struct ClaimFixture : EpochFixture {
  explicit ClaimFixture(std::uint32_t blocks = kBlocks)
      : EpochFixture(large_mesh_options(), blocks) {
    begin();
    for (PeerKey peer = kUpstreamPeer; peer <= kLastPeer; ++peer) {
      join(peer, peer == kSenderPeer ? id_of(kSenderSecret) : numbered(peer), 0, true);
    }
    pass(300 * kMillisecond);
    raise(1);
  }
  void raise(std::uint64_t number) {
    say(kUpstreamPeer, epoch(number, true));
    pass(10 * kMillisecond);
  }
  // From kSenderPeer.
  void send(std::uint32_t index, bool claims, const IdentitySecret& secret = kSenderSecret) {
    proto::Block b = block(0, ++sequence_, index);
    if (claims) b.claim = make_claim(b, claimant(manifest, secret));
    say(kSenderPeer, std::move(b));
  }
  // The rows in these slots have been judged by an Epoch, and are false.
  void found_false(std::uint64_t number, const std::vector<std::uint32_t>& slots) {
    const auto requests = heard<proto::EpochRequest>(kUpstreamPeer);
    const auto with_nonce = std::find_if(requests.rbegin(), requests.rend(),
                                         [](const auto& one) { return one.nonce.has_value(); });
    REQUIRE(with_nonce != requests.rend());
    pass(kSecond);
    proto::Epoch next = unsigned_epoch(number, true);
    next.heard = {{*with_nonce->nonce, 900'000}};
    say(kUpstreamPeer, said(std::move(next)));
    REQUIRE(take<core::JudgeRows>().size() == 1);
    core.rows_judged(0, {}, slots, true, now);
    drain();
  }
  // To whom false claims have gone since the last call.
  std::vector<PeerKey> told_to() {
    std::vector<PeerKey> peers;
    for (PeerKey peer = kUpstreamPeer; peer <= kLastPeer; ++peer) {
      for (std::size_t n = heard<proto::FalseClaim>(peer).size(); n > 0; --n) peers.push_back(peer);
    }
    return peers;
  }
  bool turns_away(PeerKey key, const PeerId& id) {
    connect(key, id);
    const auto goodbyes = heard<proto::Goodbye>(key);
    return !goodbyes.empty() && goodbyes.back().reason == proto::GoodbyeReason::kBanned;
  }

 private:
  std::uint32_t sequence_ = 0;
};

using Peers = std::vector<PeerKey>;

}  // namespace

TEST_CASE("claims are asked for under alarm in a large mesh, and not otherwise") {
  ClaimFixture fixture;
  fixture.pass(kSecond);
  CHECK(fixture.heard<proto::State>(kSenderPeer).back().wants_claims);
  fixture.pass(policy::kAlarmSilence + kSecond);  // no further Epoch: the alarm is over
  CHECK_FALSE(fixture.heard<proto::State>(kSenderPeer).back().wants_claims);

  Fixture small(vouched_manifest(4, 4, 8192));
  small.start();
  small.join_certified(1, peer_id(1), peer_id(1));
  small.pass(kSecond);
  const proto::State told = small.heard<proto::State>(1).back();
  CHECK(told.proven_only);
  CHECK_FALSE(told.wants_claims);
}

TEST_CASE("blocks without a claim are taken for a while, then dropped, which is no fault") {
  ClaimFixture fixture;
  fixture.send(0, false);
  CHECK(fixture.core.report().rank == 1);
  for (std::uint64_t number = 2; number <= 7; ++number) {
    fixture.pass(kSecond);
    fixture.raise(number);
    if (number == 4) fixture.send(1, true);  // else it would starve, and take anything
  }
  CHECK(fixture.core.report().rank == 2);
  fixture.send(2, false);
  CHECK(fixture.core.report().rank == 2);
  fixture.send(2, true);
  CHECK(fixture.core.report().rank == 3);
  CHECK_FALSE(fixture.closed(kSenderPeer));
}

TEST_CASE("a claim of another peer, payload or content, or with a false signature, bans") {
  for (const int spoilt : {0, 1, 2, 3}) {
    CAPTURE(spoilt);
    ClaimFixture fixture;
    proto::Block b = fixture.block(0, 1, 0);
    Manifest content = fixture.manifest;
    if (spoilt == 3) content.id.bytes[3] ^= 1;
    b.claim = make_claim(b, claimant(content, spoilt == 0 ? kStrangerSecret : kSenderSecret));
    if (spoilt == 1) b.payload.writable()[0] ^= 1;
    if (spoilt == 2) b.claim->signature[5] ^= 1;
    fixture.say(kSenderPeer, b);
    CHECK(fixture.closed(kSenderPeer));
    CHECK(fixture.noticed("false signature"));
    CHECK(fixture.core.report().rank == 0);
    CHECK(fixture.told_to().empty());
  }
}

TEST_CASE("the claim about a false row goes to where epochs come from, then to others") {
  ClaimFixture fixture;
  fixture.send(2, true);
  fixture.send(1, true);
  fixture.found_false(2, {0, 1});
  CHECK(fixture.closed(kSenderPeer));
  CHECK(fixture.told_to() == Peers{kUpstreamPeer});  // one is enough
  fixture.raise(3);
  fixture.pass(policy::kClaimPatience);
  const Peers second = fixture.told_to();
  REQUIRE(second.size() == 1);
  CHECK(second[0] != kUpstreamPeer);
  fixture.pass(policy::kFindingLife);
  CHECK(fixture.told_to().size() >= 2);
  fixture.pass(3 * policy::kFindingLife);
  CHECK(fixture.told_to().empty());
}

TEST_CASE(
    "a false row without a claim, or with one that is badly signed, is no matter for others") {
  for (const bool claims : {false, true}) {
    CAPTURE(claims);
    ClaimFixture fixture(4 * policy::kClaimsChecked);
    const auto signed_badly = [&](std::uint32_t sequence, std::uint32_t index) {
      proto::Block b = fixture.block(0, sequence, index);
      if (!claims) return b;
      b.claim = make_claim(b, claimant(fixture.manifest, kSenderSecret));
      if (sequence > policy::kClaimsChecked) b.claim->signature[7] ^= 1;
      return b;
    };
    std::uint32_t sent = 0;
    while (!fixture.closed(kSenderPeer) && sent < 3 * policy::kClaimsChecked) {
      ++sent;
      fixture.say(kSenderPeer, signed_badly(sent, sent));
      fixture.pass(100 * kMillisecond);
    }
    // Of those that are not all looked at, one was.
    CHECK((sent < 3 * policy::kClaimsChecked) == claims);
    CHECK(sent > policy::kClaimsChecked);
    CHECK(fixture.told_to().empty());
  }
  for (const bool claims : {false, true}) {
    CAPTURE(claims);
    ClaimFixture fixture(4 * policy::kClaimsChecked);
    for (std::uint32_t i = 0; i < policy::kClaimsChecked; ++i) {
      fixture.send(i, true);
      fixture.pass(50 * kMillisecond);
    }
    proto::Block last = fixture.block(0, policy::kClaimsChecked + 1, policy::kClaimsChecked);
    if (claims) {
      last.claim = make_claim(last, claimant(fixture.manifest, kSenderSecret));
      last.claim->signature[7] ^= 1;
    }
    fixture.say(kSenderPeer, last);
    if (fixture.closed(kSenderPeer)) continue;  // it was looked at
    fixture.found_false(2, {policy::kClaimsChecked});
    CHECK(fixture.closed(kSenderPeer));
    CHECK(fixture.told_to().empty());
  }
}

TEST_CASE("a claim names its payload, however many of the sender have been looked at") {
  ClaimFixture fixture(4 * policy::kClaimsChecked);
  for (std::uint32_t i = 0; i < 2 * policy::kClaimsChecked; ++i) {
    fixture.send(i, true);
    fixture.pass(50 * kMillisecond);
  }
  CHECK_FALSE(fixture.closed(kSenderPeer));
  proto::Block b = fixture.block(0, 2 * policy::kClaimsChecked + 1, 40);
  b.claim = make_claim(b, claimant(fixture.manifest, kSenderSecret));  // of what is true
  b.payload.writable()[0] ^= 1;
  fixture.say(kSenderPeer, b);
  CHECK(fixture.closed(kSenderPeer));
}

TEST_CASE("a relay hands a claim on once, towards the authority, and few about one peer") {
  ClaimFixture fixture;
  const auto claim = [&](std::uint32_t index) {
    proto::Block block;
    block.source_index = index % EpochFixture::kBlocks;
    block.payload = proto::Payload::allocate(2);
    block.payload.writable()[0] = static_cast<std::uint8_t>(index);
    block.payload.writable()[1] = 0;
    return proto::FalseClaim{
        0, block.source_index, {}, make_claim(block, claimant(fixture.manifest, kStrangerSecret))};
  };
  fixture.say(kOtherPeer, claim(0));
  CHECK(fixture.told_to() == Peers{kUpstreamPeer});
  fixture.say(4, claim(0));
  CHECK(fixture.told_to().empty());
  fixture.say(kUpstreamPeer, claim(1));  // back to where it came from it does not go
  CHECK(fixture.told_to().empty());
  for (std::uint32_t i = 2; i < 20; ++i) fixture.say(4, claim(i));
  CHECK(fixture.told_to().size() == policy::kClaimsHandedOnFrom);
  for (std::uint32_t i = 20; i < 40; ++i) fixture.say(i % 2 == 0 ? 5 : 6, claim(i));
  CHECK(fixture.told_to().size() == policy::kClaimsHandedOn - policy::kClaimsHandedOnFrom - 1);
  fixture.pass(kSecond);
  fixture.raise(3);
  fixture.pass(4 * kSecond);
  CHECK(fixture.told_to().empty());  // relays do not send anything again
  fixture.raise(4);
  fixture.pass(policy::kFindingLife);
  fixture.raise(5);
  fixture.say(kOtherPeer, claim(0));  // whoever found it may have to
  CHECK(fixture.told_to() == Peers{kUpstreamPeer});
  for (PeerKey peer = kUpstreamPeer; peer <= kLastPeer; ++peer) CHECK_FALSE(fixture.punished(peer));
}

TEST_CASE("what others claim of a peer does not keep back what this one has found") {
  ClaimFixture fixture;
  fixture.say(kOtherPeer, claim_by(fixture.manifest, kSenderSecret));
  CHECK(fixture.told_to() == Peers{kUpstreamPeer});
  fixture.send(2, true);
  fixture.found_false(2, {0});
  CHECK(fixture.told_to() == Peers{kUpstreamPeer});
}

TEST_CASE("of many made-up claims a relay hands on no more than it may") {
  ClaimFixture fixture;
  std::size_t sent = 0;
  for (std::uint32_t round = 0; round < 8; ++round) {
    for (PeerKey peer = 3; peer <= kLastPeer; ++peer) {
      for (std::uint8_t i = 0; i < 100; ++i) {
        const IdentitySecret made_up{40, static_cast<std::uint8_t>(peer), i};
        if (round == 0) fixture.say(peer, claim_by(fixture.manifest, made_up));
      }
    }
    sent += fixture.told_to().size();
  }
  CHECK(sent == policy::kFalseClaimsAtOnce);
}

TEST_CASE("claims that nobody has signed, or that fit no block, are faults of who sends them") {
  ClaimFixture fixture;
  proto::FalseClaim forged = claim_by(fixture.manifest, kStrangerSecret);
  forged.claim.signature[0] ^= 1;
  fixture.say(4, forged);
  CHECK(fixture.punished(4));
  fixture.say(5, claim_by(fixture.manifest, kStrangerSecret, EpochFixture::kBlocks));
  CHECK(fixture.punished(5));
  CHECK(fixture.told_to().empty());
}

TEST_CASE("who an epoch names is parted with, turned away, and its rows are dropped") {
  ClaimFixture fixture;
  fixture.send(0, true);
  CHECK(fixture.core.report().rank == 1);
  proto::Epoch verdict = fixture.unsigned_epoch(2, true);
  verdict.convicted = {id_of(kSenderSecret), id_of(kStrangerSecret)};
  fixture.say(kUpstreamPeer, fixture.said(fixture.naming_nonce(kUpstreamPeer, verdict)));
  CHECK(fixture.closed(kSenderPeer));
  CHECK(fixture.core.report().rank == 0);
  CHECK(fixture.turns_away(20, id_of(kStrangerSecret)));  // never met
  CHECK_FALSE(fixture.turns_away(21, numbered(99)));
}

TEST_CASE("a peer that the authority has convicted tells its own user, once") {
  ClaimFixture fixture;
  for (std::uint64_t number = 2; number <= 3; ++number) {
    proto::Epoch verdict = fixture.unsigned_epoch(number, true);
    verdict.convicted = {plain_options().self};
    if (number == 2) verdict = fixture.naming_nonce(kUpstreamPeer, verdict);
    fixture.say(kUpstreamPeer, fixture.said(verdict));
  }
  std::size_t told = 0;
  for (const core::Notice& notice : fixture.take<core::Notice>())
    told += notice.text.find("arrive damaged") != std::string::npos;
  CHECK(told == 1);
}

TEST_CASE("blocks have a claim for neighbours that want one, alarm or not") {
  for (const bool alarm : {true, false}) {
    CAPTURE(alarm);
    ClaimFixture fixture;
    // A complete peer hears of no Epoch after a while.
    if (!alarm) fixture.pass(policy::kAlarmSilence + policy::kAlarmMemory + kSecond);
    fixture.join_certified(30, id_of(EpochFixture::kVoice), id_of(EpochFixture::kVoice));
    fixture.say(30, fixture.block(1, 1, 0));  // proven: it comes from the speaker
    for (const bool wants : {true, false}) {
      CAPTURE(wants);
      const PeerKey taker = wants ? 31 : 32;
      fixture.open(taker, numbered(static_cast<std::uint32_t>(taker)));
      proto::State state;
      state.credit = 4;
      state.proven_only = true;
      state.wants_claims = wants;
      fixture.say(taker, state);
      fixture.pass(kSecond);
      const auto sent = fixture.blocks_to(taker);
      REQUIRE_FALSE(sent.empty());
      for (const core::SendBlock& send : sent) CHECK(send.block.claim.has_value() == wants);
    }
  }
}

TEST_CASE("under alarm the speaker is believed at its word, others of the authority are judged") {
  for (const bool speaks : {true, false}) {
    CAPTURE(speaks);
    ClaimFixture fixture;
    const PeerId id = id_of(speaks ? EpochFixture::kVoice : EpochFixture::kOtherVoice);
    fixture.join_certified(30, id, id);
    fixture.pass(kSecond);
    fixture.raise(2);
    fixture.pass(10 * kMillisecond);
    fixture.say(30, fixture.block(1, 1, 0));
    fixture.open(31, numbered(31));
    proto::State state;
    state.credit = 4;
    state.proven_only = true;
    fixture.say(31, state);
    fixture.pass(kSecond);
    CHECK(fixture.blocks_to(31).empty() != speaks);  // only proven rows may be passed on
  }
}

// --- the authority ---

namespace {

struct AuthorityFixture : EpochFixture {
  AuthorityFixture() : EpochFixture(options()) {
    begin(true);
    for (PeerKey peer = kUpstreamPeer; peer <= kLastPeer; ++peer) {
      join(peer, peer == kSenderPeer ? id_of(kSenderSecret) : numbered(peer), 0);
      say_state(peer, 0, 0, {{2, 1, 0, {}}});
    }
  }
  static core::Options options() {
    core::Options made = large_mesh_options();
    made.self = id_of(kVoice);
    made.certificate = "what it shows is looked at by others";
    return made;
  }
  std::vector<PeerId> to_check() {
    std::vector<PeerId> all;
    for (const core::CheckClaim& action : take<core::CheckClaim>())
      all.push_back(claimant_of(action.claim.claim));
    return all;
  }
  void checked(const PeerId& accused, bool is_false) {
    core.authority_answered(core::ClaimVerdict{accused, is_false}, now);
    drain();
  }
  // How often Epochs name the peer within so long; they are made.
  std::size_t named(const PeerId& id, TimeUs within) {
    std::size_t count = 0;
    for (TimeUs passed = 0; passed < within; passed += 100 * kMillisecond) {
      pass(100 * kMillisecond);
      for (core::MakeEpoch& action : take<core::MakeEpoch>()) {
        const auto& convicted = action.epoch.convicted;
        count += std::count(convicted.begin(), convicted.end(), id);
        action.epoch.key.assign(limits::kCheckKeyBytes, 1);
        core.authority_answered(said(std::move(action.epoch)), now);
        drain();
      }
    }
    return count;
  }
};

}  // namespace

TEST_CASE("the authority checks a claim, and names who made a false one in three epochs") {
  AuthorityFixture fixture;
  const PeerId accused = id_of(kSenderSecret);
  fixture.say(kOtherPeer, claim_by(fixture.manifest, kSenderSecret));
  fixture.say(4, claim_by(fixture.manifest, kSenderSecret, 1));  // one at a time
  CHECK(fixture.to_check() == std::vector{accused});
  CHECK_FALSE(fixture.closed(kSenderPeer));
  fixture.checked(accused, true);
  CHECK(fixture.closed(kSenderPeer));
  CHECK(fixture.named(accused, 60 * kSecond) == policy::kSentenceEpochs);
  // It is known by now, but not to everybody.
  fixture.say(4, claim_by(fixture.manifest, kSenderSecret, 1));
  CHECK(fixture.to_check().empty());
  CHECK(fixture.named(accused, 60 * kSecond) == 1);
}

TEST_CASE("a claim that is true convicts nobody, and the next one is checked too") {
  AuthorityFixture fixture;
  const PeerId accused = id_of(kSenderSecret);
  fixture.say(kOtherPeer, claim_by(fixture.manifest, kSenderSecret));
  fixture.checked(accused, false);
  CHECK_FALSE(fixture.closed(kSenderPeer));
  CHECK_FALSE(fixture.closed(kOtherPeer));
  CHECK(fixture.named(accused, 20 * kSecond) == 0);
  fixture.take<core::CheckClaim>();
  fixture.say(4, claim_by(fixture.manifest, kSenderSecret, 1));
  CHECK(fixture.to_check() == std::vector{accused});
}

TEST_CASE("an answer that nobody waits for convicts nobody") {
  AuthorityFixture fixture;
  fixture.checked(id_of(kSenderSecret), true);
  CHECK_FALSE(fixture.closed(kSenderPeer));
  CHECK(fixture.named(id_of(kSenderSecret), 20 * kSecond) == 0);
}

TEST_CASE("one neighbour's claims beyond its allowance are ignored, others' are not") {
  AuthorityFixture fixture;
  std::size_t checks = 0;
  for (std::uint32_t i = 0; i < policy::kFalseClaimsAtOnce + 50; ++i) {
    const IdentitySecret made_up{30, static_cast<std::uint8_t>(i),
                                 static_cast<std::uint8_t>(i >> 8)};
    fixture.say(kOtherPeer, claim_by(fixture.manifest, made_up));
    for (const PeerId& id : fixture.to_check()) {
      ++checks;
      fixture.checked(id, false);
    }
  }
  CHECK(checks == policy::kFalseClaimsAtOnce);
  fixture.say(4, claim_by(fixture.manifest, kSenderSecret));
  CHECK(fixture.to_check().size() == 1);
  CHECK_FALSE(fixture.punished(kOtherPeer));
}

TEST_CASE("a large mesh stays one when most neighbours have been parted with") {
  core::Options options = AuthorityFixture::options();
  EpochFixture fixture(std::move(options));
  fixture.start(true);
  fixture.tell_of(5);  // the tracker told before others came
  for (PeerKey peer = 1; peer <= 30; ++peer) {
    fixture.join(peer, numbered(peer), 0);
    fixture.say_state(peer, 0, 0, {{2, 1, 0, {}}});
  }
  for (PeerKey peer = 1; peer <= 28; ++peer) fixture.core.peer_closed(peer, fixture.now);
  fixture.drain();
  fixture.take<core::MakeEpoch>();
  fixture.say(29, proto::EpochRequest{std::nullopt, true, {}});
  fixture.pass(2 * kSecond);
  CHECK_FALSE(fixture.take<core::MakeEpoch>().empty());
}
