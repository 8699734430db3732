// Epochs on their way: which are believed, and to which neighbours they are handed on.
#include "tests/core/epoch_fixture.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

namespace {

constexpr PeerKey kNearest = 1, kSpeakerPeer = 2, kFarthest = 13;

struct FloodFixture : EpochFixture {
  FloodFixture() {
    begin();
    for (PeerKey peer = kNearest; peer <= kFarthest; ++peer) {
      join(peer, numbered(static_cast<std::uint32_t>(peer)), 0);
    }
    pass(kMillisecond);
  }
};

}  // namespace

TEST_CASE("an epoch is handed on once to a few neighbours, and never back") {
  FloodFixture fixture;
  fixture.say(kNearest, fixture.epoch(1));
  CHECK(fixture.handed_on(kNearest, kNearest) == 0);
  CHECK(fixture.handed_on(kSpeakerPeer, kFarthest) == policy::kEpochSpreadFirst);
  for (PeerKey peer = kSpeakerPeer; peer <= kFarthest; ++peer) fixture.say(peer, fixture.epoch(1));
  CHECK(fixture.handed_on(kNearest, kFarthest) == 0);
  for (PeerKey peer = kNearest; peer <= kFarthest; ++peer) CHECK_FALSE(fixture.punished(peer));
}

TEST_CASE("a neighbour that asks for epochs gets each at once, of the others only few do") {
  FloodFixture fixture;
  proto::State state;
  state.wants_epochs = true;
  fixture.say(kFarthest, state);
  for (std::uint64_t number = 1; number <= 8; ++number) {
    fixture.pass(kSecond);
    fixture.say(kNearest, fixture.epoch(number));
    CHECK(fixture.heard<proto::Epoch>(kFarthest).size() == 1);
    const std::size_t others = fixture.handed_on(kSpeakerPeer, kFarthest);
    CHECK(others ==
          (number < policy::kEpochFirst ? policy::kEpochSpreadFirst : policy::kEpochSpread));
  }
}

TEST_CASE("the neighbour that epochs come from first is asked for more") {
  FloodFixture fixture;
  fixture.say(kNearest, fixture.epoch(1));
  fixture.say(kSpeakerPeer, fixture.epoch(1));
  fixture.pass(kSecond);
  CHECK(fixture.heard<proto::State>(kNearest).back().wants_epochs);
  for (const proto::State& state : fixture.heard<proto::State>(kSpeakerPeer)) {
    CHECK_FALSE(state.wants_epochs);
  }
  fixture.say(kSpeakerPeer, fixture.epoch(2));
  fixture.pass(kSecond);
  CHECK(fixture.heard<proto::State>(kSpeakerPeer).back().wants_epochs);
}

TEST_CASE("a neighbour that stays behind gets the latest epoch, once") {
  FloodFixture fixture;
  for (std::uint64_t number = 1; number <= 4; ++number)
    fixture.say(kNearest, fixture.epoch(number));
  std::vector<PeerKey> without;
  for (PeerKey peer = kSpeakerPeer; peer <= kFarthest; ++peer) {
    const auto sent = fixture.heard<proto::Epoch>(peer);
    if (sent.empty() || sent.back().number < 4) without.push_back(peer);
  }
  REQUIRE_FALSE(without.empty());
  fixture.say(without[0], proto::State{});  // at once: it may be on its way there
  CHECK(fixture.heard<proto::Epoch>(without[0]).empty());
  fixture.pass(policy::kEpochLag + kMillisecond);
  fixture.say(without[0], proto::State{});
  const auto late = fixture.heard<proto::Epoch>(without[0]);
  REQUIRE(late.size() == 1);
  CHECK(late[0].number == 4);
  fixture.say(without[0], proto::State{});
  CHECK(fixture.heard<proto::Epoch>(without[0]).empty());
}

TEST_CASE("a neighbour that repeats an epoch, or goes back to an older one, is struck") {
  for (const std::uint64_t again : {3, 2, 1}) {
    CAPTURE(again);
    FloodFixture fixture;
    fixture.say(kNearest, fixture.epoch(3));
    fixture.handed_on(kSpeakerPeer, kFarthest);
    fixture.say(kNearest, fixture.epoch(again));
    CHECK(fixture.punished(kNearest));
    CHECK(fixture.handed_on(kSpeakerPeer, kFarthest) == 0);
  }
}

TEST_CASE("epochs that are not the authority's are not handed on, and their senders are struck") {
  FloodFixture fixture;
  std::vector<proto::Epoch> bad;
  bad.push_back(fixture.epoch(1));
  bad.back().signature[5] ^= 1;
  bad.push_back(fixture.epoch(1));
  bad.back().time_us += 1;  // each signed field
  bad.push_back(fixture.epoch(1));
  bad.back().alarm = true;
  bad.push_back(fixture.epoch(1));
  bad.back().sums[1].sums[2] ^= 1;
  bad.push_back(fixture.epoch(1));
  bad.back().heard.push_back({nonce_of(1), 5});
  bad.push_back(fixture.epoch(1));
  bad.back().certificate =  // made for another peer
      make_certificate(fixture.manifest.id, id_of(EpochFixture::kOtherVoice), kAuthoritySecret)
          .value();
  ContentId other = fixture.manifest.id;
  other.bytes[3] ^= 1;
  bad.push_back(fixture.epoch(1));
  bad.back().certificate =  // and for another content
      make_certificate(other, id_of(EpochFixture::kVoice), kAuthoritySecret).value();
  bad.push_back(fixture.unsigned_epoch(1));
  bad.back().certificate = fixture.epoch(1).certificate;
  sign_epoch(bad.back(), other, EpochFixture::kVoice);
  bad.push_back(
      fixture.unsigned_epoch(1));  // sums of a generation that does not exist, or too many
  bad.back().sums.push_back({EpochFixture::kGenerations, std::vector<std::uint8_t>(16, 1)});
  bad.back() = fixture.said(bad.back());
  bad.push_back(fixture.unsigned_epoch(1));
  bad.back().sums[0].sums.push_back(1);
  bad.back() = fixture.said(bad.back());
  REQUIRE(bad.size() < kFarthest);
  for (std::size_t i = 0; i < bad.size(); ++i) {
    CAPTURE(i);
    fixture.say(kNearest + i, bad[i]);
    CHECK(fixture.punished(kNearest + i));
  }
  CHECK(fixture.handed_on(kNearest, kFarthest) == 0);
  fixture.say(kFarthest, fixture.epoch(1));
  CHECK_FALSE(fixture.punished(kFarthest));
}

TEST_CASE("of a flood of true epochs most are neither checked nor handed on") {
  FloodFixture fixture;
  std::size_t sent = 0;
  for (std::uint64_t number = 1; number <= 2 * policy::kEpochsAtOnce; ++number) {
    fixture.say(kNearest, fixture.epoch(number));
    sent += fixture.handed_on(kSpeakerPeer, kFarthest) > 0;
  }
  CHECK(sent == policy::kEpochsAtOnce);
  CHECK_FALSE(fixture.punished(kNearest));  // its connection may have stood still
}

TEST_CASE("what a speaker said before another one spoke is not believed again") {
  FloodFixture fixture;
  fixture.say(kNearest, fixture.epoch(7));
  fixture.pass(policy::kEpochSilence);
  fixture.handed_on(kNearest, kFarthest);
  fixture.say(kSpeakerPeer, fixture.said(fixture.unsigned_epoch(1), EpochFixture::kOtherVoice));
  fixture.pass(policy::kEpochSilence);
  fixture.handed_on(kNearest, kFarthest);
  fixture.say(kFarthest, fixture.epoch(6));
  fixture.say(kFarthest, fixture.epoch(7));
  CHECK(fixture.handed_on(kNearest, kFarthest) == 0);
  CHECK_FALSE(fixture.punished(kFarthest));
  fixture.say(kFarthest, fixture.epoch(8));
  CHECK(fixture.handed_on(kNearest, kFarthest) > 0);
}

TEST_CASE("another peer that speaks is listened to once the first has been silent for long") {
  FloodFixture fixture;
  const auto other = [&](std::uint64_t number) {
    return fixture.said(fixture.unsigned_epoch(number), EpochFixture::kOtherVoice);
  };
  fixture.say(kNearest, fixture.epoch(7));
  fixture.handed_on(kSpeakerPeer, kFarthest);
  fixture.say(kSpeakerPeer, other(1));
  CHECK_FALSE(fixture.punished(kSpeakerPeer));
  CHECK(fixture.handed_on(kNearest, kFarthest) == 0);
  fixture.pass(policy::kEpochSilence);
  fixture.say(kSpeakerPeer, other(2));
  CHECK(fixture.handed_on(kNearest, kFarthest) > 0);
}

TEST_CASE(
    "a neighbour that knows the former speaker's last epoch gets the next one's all the same") {
  FloodFixture fixture;
  const auto other = [&](std::uint64_t number) {
    return fixture.said(fixture.unsigned_epoch(number), EpochFixture::kOtherVoice);
  };
  fixture.say(kNearest, fixture.epoch(7));
  fixture.pass(policy::kEpochSilence);
  fixture.handed_on(kSpeakerPeer, kFarthest);
  fixture.say(kSpeakerPeer, other(1));
  fixture.say(kSpeakerPeer, other(2));
  std::vector<PeerKey> without;
  for (PeerKey peer = kNearest; peer <= kFarthest; ++peer) {
    if (peer != kSpeakerPeer && fixture.heard<proto::Epoch>(peer).empty()) without.push_back(peer);
  }
  REQUIRE(without.size() >= 2);
  proto::State behind, ahead;
  behind.epoch = 7;  // of the former
  ahead.epoch = 1;
  fixture.pass(policy::kEpochLag + kMillisecond);
  fixture.say(without[0], behind);
  const auto late = fixture.heard<proto::Epoch>(without[0]);
  REQUIRE(late.size() == 1);
  CHECK(late[0].number == 2);
  fixture.say(without[0], behind);  // before it has come there, or while it listens to the former
  fixture.say(kSpeakerPeer, other(3));
  fixture.pass(policy::kEpochLag + kMillisecond);
  fixture.say(without[0], behind);
  CHECK(fixture.handed_on(without[0], without[0]) == 1);
  // One that connects only now is no other.
  constexpr PeerKey kNewcomer = kFarthest + 1;
  fixture.open(kNewcomer, numbered(static_cast<std::uint32_t>(kNewcomer)));
  behind.epoch = 9;
  fixture.say(kNewcomer, behind);
  CHECK(fixture.handed_on(kNewcomer, kNewcomer) == 1);
  // A higher number is of the present speaker once a lower one was told of.
  fixture.say(without[1], ahead);
  (void)fixture.handed_on(without[1], without[1]);
  ahead.epoch = 5;
  fixture.say(without[1], ahead);
  fixture.say(kSpeakerPeer, other(4));
  fixture.pass(policy::kEpochLag + kMillisecond);
  fixture.say(without[1], ahead);
  CHECK(fixture.heard<proto::Epoch>(without[1]).empty());
}

TEST_CASE("of a content without an authority nobody's epochs are believed") {
  Fixture fixture(plain_manifest(4, 4, 8192));
  fixture.start();
  fixture.join(kNearest, numbered(1), 0);
  EpochFixture other;
  fixture.say(kNearest, other.epoch(1));
  CHECK(fixture.closed(kNearest));
}
