// Epochs on their way: which are believed, and to which neighbours they are handed on.
#include "tests/core/epoch_bench.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

namespace {

constexpr PeerKey kFrom = 1, kSpeakerPeer = 2, kLast = 13;

struct FloodBench : EpochBench {
  FloodBench() {
    begin();
    for (PeerKey peer = kFrom; peer <= kLast; ++peer) {
      join(peer, numbered(static_cast<std::uint32_t>(peer)), 0);
    }
    pass(kMillisecond);
  }
};

}  // namespace

TEST_CASE("an epoch is handed on once to a few neighbours, and never back") {
  FloodBench bench;
  bench.say(kFrom, bench.epoch(1));
  CHECK(bench.handed_on(kFrom, kFrom) == 0);
  CHECK(bench.handed_on(kSpeakerPeer, kLast) == policy::kEpochSpreadFirst);
  for (PeerKey peer = kSpeakerPeer; peer <= kLast; ++peer) bench.say(peer, bench.epoch(1));
  CHECK(bench.handed_on(kFrom, kLast) == 0);
  for (PeerKey peer = kFrom; peer <= kLast; ++peer) CHECK_FALSE(bench.punished(peer));
}

TEST_CASE("a neighbour that asks for epochs gets each at once, of the others only few do") {
  FloodBench bench;
  proto::State state;
  state.wants_epochs = true;
  bench.say(kLast, state);
  for (std::uint64_t number = 1; number <= 8; ++number) {
    bench.pass(kSecond);
    bench.say(kFrom, bench.epoch(number));
    CHECK(bench.heard<proto::Epoch>(kLast).size() == 1);
    const std::size_t others = bench.handed_on(kSpeakerPeer, kLast);
    CHECK(others ==
          (number < policy::kEpochFirst ? policy::kEpochSpreadFirst : policy::kEpochSpread));
  }
}

TEST_CASE("the neighbour that epochs come from first is asked for more") {
  FloodBench bench;
  bench.say(kFrom, bench.epoch(1));
  bench.say(kSpeakerPeer, bench.epoch(1));
  bench.pass(kSecond);
  CHECK(bench.heard<proto::State>(kFrom).back().wants_epochs);
  for (const proto::State& state : bench.heard<proto::State>(kSpeakerPeer)) {
    CHECK_FALSE(state.wants_epochs);
  }
  bench.say(kSpeakerPeer, bench.epoch(2));
  bench.pass(kSecond);
  CHECK(bench.heard<proto::State>(kSpeakerPeer).back().wants_epochs);
}

TEST_CASE("a neighbour that stays behind gets the latest epoch, once") {
  FloodBench bench;
  for (std::uint64_t number = 1; number <= 4; ++number) bench.say(kFrom, bench.epoch(number));
  std::vector<PeerKey> without;
  for (PeerKey peer = kSpeakerPeer; peer <= kLast; ++peer) {
    const auto sent = bench.heard<proto::Epoch>(peer);
    if (sent.empty() || sent.back().number < 4) without.push_back(peer);
  }
  REQUIRE_FALSE(without.empty());
  bench.say(without[0], proto::State{});  // at once: it may be on its way there
  CHECK(bench.heard<proto::Epoch>(without[0]).empty());
  bench.pass(policy::kEpochLag + kMillisecond);
  bench.say(without[0], proto::State{});
  const auto late = bench.heard<proto::Epoch>(without[0]);
  REQUIRE(late.size() == 1);
  CHECK(late[0].number == 4);
  bench.say(without[0], proto::State{});
  CHECK(bench.heard<proto::Epoch>(without[0]).empty());
}

TEST_CASE("a neighbour that repeats an epoch, or goes back to an older one, is struck") {
  for (const std::uint64_t again : {3, 2, 1}) {
    CAPTURE(again);
    FloodBench bench;
    bench.say(kFrom, bench.epoch(3));
    bench.handed_on(kSpeakerPeer, kLast);
    bench.say(kFrom, bench.epoch(again));
    CHECK(bench.punished(kFrom));
    CHECK(bench.handed_on(kSpeakerPeer, kLast) == 0);
  }
}

TEST_CASE("epochs that are not the authority's are not handed on, and their senders are struck") {
  FloodBench bench;
  std::vector<proto::Epoch> bad;
  bad.push_back(bench.epoch(1));
  bad.back().signature[5] ^= 1;
  bad.push_back(bench.epoch(1));
  bad.back().time_us += 1;  // each signed field
  bad.push_back(bench.epoch(1));
  bad.back().alarm = true;
  bad.push_back(bench.epoch(1));
  bad.back().sums[1].sums[2] ^= 1;
  bad.push_back(bench.epoch(1));
  bad.back().heard.push_back({nonce_of(1), 5});
  bad.push_back(bench.epoch(1));
  bad.back().certificate =  // made for another peer
      make_certificate(bench.manifest.id, id_of(EpochBench::kOtherVoice), kAuthoritySecret).value();
  bad.push_back(bench.unsigned_epoch(1));
  ContentId other = bench.manifest.id;
  other.bytes[3] ^= 1;
  bad.back().certificate = bench.epoch(1).certificate;
  sign_epoch(bad.back(), other, EpochBench::kVoice);
  bad.push_back(bench.unsigned_epoch(1));  // sums of a generation that does not exist, or too many
  bad.back().sums.push_back({EpochBench::kGenerations, std::vector<std::uint8_t>(16, 1)});
  bad.back() = bench.said(bad.back());
  bad.push_back(bench.unsigned_epoch(1));
  bad.back().sums[0].sums.push_back(1);
  bad.back() = bench.said(bad.back());
  REQUIRE(bad.size() < kLast);
  for (std::size_t i = 0; i < bad.size(); ++i) {
    CAPTURE(i);
    bench.say(kFrom + i, bad[i]);
    CHECK(bench.punished(kFrom + i));
  }
  CHECK(bench.handed_on(kFrom, kLast) == 0);
  bench.say(kLast, bench.epoch(1));
  CHECK_FALSE(bench.punished(kLast));
}

TEST_CASE("of a flood of true epochs most are neither checked nor handed on") {
  FloodBench bench;
  std::size_t sent = 0;
  for (std::uint64_t number = 1; number <= 2 * policy::kEpochsAtOnce; ++number) {
    bench.say(kFrom, bench.epoch(number));
    sent += bench.handed_on(kSpeakerPeer, kLast) > 0;
  }
  CHECK(sent == policy::kEpochsAtOnce);
  CHECK_FALSE(bench.punished(kFrom));  // its connection may have stood still
}

TEST_CASE("what a speaker said before another one spoke is not believed again") {
  FloodBench bench;
  bench.say(kFrom, bench.epoch(7));
  bench.pass(policy::kEpochSilence);
  bench.handed_on(kFrom, kLast);
  bench.say(kSpeakerPeer, bench.said(bench.unsigned_epoch(1), EpochBench::kOtherVoice));
  bench.pass(policy::kEpochSilence);
  bench.handed_on(kFrom, kLast);
  bench.say(kLast, bench.epoch(6));
  bench.say(kLast, bench.epoch(7));
  CHECK(bench.handed_on(kFrom, kLast) == 0);
  CHECK_FALSE(bench.punished(kLast));
  bench.say(kLast, bench.epoch(8));
  CHECK(bench.handed_on(kFrom, kLast) > 0);
}

TEST_CASE("another peer that speaks is listened to once the first has been silent for long") {
  FloodBench bench;
  const auto other = [&](std::uint64_t number) {
    return bench.said(bench.unsigned_epoch(number), EpochBench::kOtherVoice);
  };
  bench.say(kFrom, bench.epoch(7));
  bench.handed_on(kSpeakerPeer, kLast);
  bench.say(kSpeakerPeer, other(1));
  CHECK_FALSE(bench.punished(kSpeakerPeer));
  CHECK(bench.handed_on(kFrom, kLast) == 0);
  bench.pass(policy::kEpochSilence);
  bench.say(kSpeakerPeer, other(2));
  CHECK(bench.handed_on(kFrom, kLast) > 0);
}

TEST_CASE("of a content without an authority nobody's epochs are believed") {
  Bench bench(plain_manifest(4, 4, 8192));
  bench.start();
  bench.join(kFrom, numbered(1), 0);
  EpochBench other;
  bench.say(kFrom, other.epoch(1));
  CHECK(bench.closed(kFrom));
}
