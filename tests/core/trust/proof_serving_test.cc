// Check sums for neighbours: of any holder under their key, of one that speaks for the authority
// under a key that it draws.
#include "proto/base/limits.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;

namespace {

constexpr PeerKey kAsker = 2;
using Key = std::vector<std::uint8_t>;

Key key_of(std::uint8_t value) {
  return Key(limits::kCheckKeyBytes, value);
}

// A source; it speaks for the authority, or does not.
Fixture source(bool certified = true, const Manifest& content = vouched_manifest(200, 4, 64)) {
  core::Options options = plain_options();
  if (certified) {
    options.certificate = make_certificate(content.id, options.self, kAuthoritySecret).value();
  }
  return Fixture(content, options);
}

std::vector<std::uint32_t> numbers(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back(first + i);
  return all;
}

// What is sent for sums of g that were made under this key.
proto::CheckReply made(Fixture& fixture, std::uint32_t g, const Key& key) {
  fixture.core.proof_made(kAsker, proto::CheckReply{g, key, Key(16, 1)}, fixture.now);
  fixture.drain();
  const auto replies = fixture.heard<proto::CheckReply>(kAsker);
  REQUIRE(replies.size() == 1);
  CHECK(replies[0].generation == g);
  CHECK(replies[0].sums == Key(16, 1));
  return replies[0];
}

}  // namespace

TEST_CASE("a neighbour has a key of its own, which it is told once") {
  Fixture fixture = source();
  fixture.start(true);
  fixture.join(kAsker, peer_id(2), 0);
  fixture.say(kAsker, proto::CheckRequest{{3, 7}});
  const auto wanted = fixture.take<core::MakeCheck>();
  REQUIRE(wanted.size() == 2);
  CHECK(wanted[0].peer == kAsker);
  CHECK(wanted[1].generation == 7);
  CHECK(wanted[0].tag_bytes == facts::kSumBytes);
  CHECK(wanted[0].key.empty());
  // Two keys were drawn before one was told: each goes along with its sums.
  CHECK(made(fixture, 3, key_of(1)).key == key_of(1));
  CHECK(made(fixture, 7, key_of(2)).key == key_of(2));
  fixture.say(kAsker, proto::CheckRequest{{8}});
  const auto next = fixture.take<core::MakeCheck>();
  REQUIRE(next.size() == 1);
  CHECK(std::ranges::equal(next[0].key, key_of(2)));
  CHECK(made(fixture, 8, key_of(2)).key.empty());

  // On a new connection nothing of it is known.
  fixture.core.peer_closed(kAsker, fixture.now);
  fixture.join(3, peer_id(2), 0);
  fixture.say(3, proto::CheckRequest{{8}});
  const auto again = fixture.take<core::MakeCheck>();
  REQUIRE(again.size() == 1);
  CHECK(again[0].key.empty());
}

TEST_CASE("what a neighbour asks for beyond its allowance is ignored") {
  Fixture fixture = source();
  fixture.start(true);
  fixture.join(kAsker, peer_id(2), 0);
  for (std::uint32_t i = 0; i < 3; ++i)
    fixture.say(kAsker, proto::CheckRequest{numbers(60 * i, 60)});
  CHECK(fixture.take<core::MakeCheck>().size() == 2 * facts::kSumsPerSecond);
  CHECK_FALSE(fixture.closed(kAsker));
  fixture.pass(kSecond);
  for (std::uint32_t i = 0; i < 2; ++i)
    fixture.say(kAsker, proto::CheckRequest{numbers(60 * i, 60)});
  CHECK(fixture.take<core::MakeCheck>().size() == facts::kSumsPerSecond);
  fixture.join(3, peer_id(3), 0);  // others have their own
  fixture.say(3, proto::CheckRequest{numbers(0, 10)});
  CHECK(fixture.take<core::MakeCheck>().size() == 10);
}

TEST_CASE("a large generation counts as many of the usual size") {
  Fixture fixture = source(true, vouched_manifest(60, 64, 1 << 20));
  fixture.start(true);
  fixture.join(kAsker, peer_id(2), 0);
  const auto answered = [&] {
    fixture.say(kAsker, proto::CheckRequest{numbers(0, 60)});
    fixture.say(kAsker, proto::LeafRequest{numbers(0, limits::kLeafGenerationsMax)});
    return std::pair(fixture.take<core::MakeCheck>().size(),
                     fixture.take<core::MakeLeaves>().size());
  };
  const auto [sums, leaves] = answered();
  CHECK(sums > 0);
  CHECK(sums <= facts::kSumsPerSecond / 4);
  CHECK(leaves > 0);
  CHECK(leaves <= facts::kLeavesPerSecond / 8);
  CHECK(answered() == std::pair<std::size_t, std::size_t>(0, 0));
  fixture.pass(600 * kSecond);
  CHECK(answered() == std::pair(sums, leaves));
}

TEST_CASE("the same request again and again is answered at a bounded rate, at nobody's cost") {
  constexpr int kReplayed = 60;  // seconds
  Fixture fixture = source();
  fixture.start(true);
  fixture.join(kAsker, peer_id(2), 0);
  fixture.join(3, peer_id(3), 0);
  std::size_t wanted = 0, others = 0;
  for (int i = 0; i < 100 * kReplayed; ++i) {
    fixture.say(kAsker, proto::CheckRequest{numbers(3, 4)});
    wanted += fixture.take<core::MakeCheck>().size();
    if (i % 100 == 0) {
      fixture.say(3, proto::CheckRequest{{3}});
      others += fixture.take<core::MakeCheck>().size();
    }
    fixture.pass(10 * kMillisecond);
  }
  CHECK(wanted <= (2 + kReplayed) * facts::kSumsPerSecond);
  CHECK(wanted >= kReplayed * facts::kSumsPerSecond - facts::kSumsPerSecond);
  CHECK(others == kReplayed);
  CHECK_FALSE(fixture.noticed("banned for"));
  CHECK(fixture.core.report().peers == 2);
  fixture.pass(60 * kSecond);
  CHECK(fixture.take<core::MakeCheck>().empty());  // nothing was put off
}

TEST_CASE("a peer that does not speak for the authority has no sums, and says so") {
  Fixture fixture = source(false);
  fixture.start(true);
  fixture.join(kAsker, peer_id(2), 0);
  fixture.say(kAsker, proto::CheckRequest{{3}});
  CHECK(fixture.take<core::MakeCheck>().empty());
  const auto replies = fixture.heard<proto::CheckReply>(kAsker);
  REQUIRE(replies.size() == 1);
  CHECK(replies[0] == proto::CheckReply{3, {}, {}});
}

TEST_CASE("a request for a generation that does not exist is a fault") {
  Fixture fixture = source();
  fixture.start(true);
  fixture.join(kAsker, peer_id(2), 0);
  fixture.say(kAsker, proto::CheckRequest{{3, 200}});
  CHECK(fixture.closed(kAsker));
}

TEST_CASE("sums that were made for a neighbour that has left are sent to nobody") {
  Fixture fixture = source();
  fixture.start(true);
  fixture.join(kAsker, peer_id(2), 0);
  fixture.say(kAsker, proto::CheckRequest{{3}});
  fixture.core.peer_closed(kAsker, fixture.now);
  fixture.core.proof_made(kAsker, proto::CheckReply{3, key_of(1), Key(16, 1)}, fixture.now);
  fixture.drain();
  CHECK(fixture.heard<proto::CheckReply>(kAsker).empty());
}

// --- under the key of the neighbour ---

TEST_CASE("any holder makes sums under the key that a neighbour sends, and answers with that key") {
  for (const bool certified : {false, true}) {
    CAPTURE(certified);
    Fixture fixture = source(certified);
    fixture.start(true);
    fixture.join(kAsker, peer_id(2), 0);
    fixture.say(kAsker, proto::CheckRequest{{3}, key_of(9)});
    fixture.say(kAsker, proto::CheckRequest{{3}, key_of(8)});
    const auto wanted = fixture.take<core::MakeCheck>();
    REQUIRE(wanted.size() == 2);
    CHECK(wanted[0].peer == kAsker);
    CHECK(wanted[0].generation == 3);
    CHECK(wanted[0].tag_bytes == facts::kSumBytes);
    CHECK(std::ranges::equal(wanted[0].key, key_of(9)));
    CHECK(std::ranges::equal(wanted[1].key, key_of(8)));
    CHECK(made(fixture, 3, key_of(8)).key == key_of(8));
    CHECK(made(fixture, 3, key_of(9)).key == key_of(9));
  }
}

TEST_CASE("a neighbour's own key takes nothing from the one that is drawn for it") {
  Fixture fixture = source();
  fixture.start(true);
  fixture.join(kAsker, peer_id(2), 0);
  fixture.say(kAsker, proto::CheckRequest{{3}, key_of(9)});
  CHECK(made(fixture, 3, key_of(9)).key == key_of(9));
  fixture.take<core::MakeCheck>();
  fixture.say(kAsker, proto::CheckRequest{{4}});
  const auto drawn = fixture.take<core::MakeCheck>();
  REQUIRE(drawn.size() == 1);
  CHECK(drawn[0].key.empty());
  CHECK(made(fixture, 4, key_of(1)).key == key_of(1));
  fixture.say(kAsker, proto::CheckRequest{{5}, key_of(9)});
  CHECK(made(fixture, 5, key_of(9)).key == key_of(9));
  fixture.take<core::MakeCheck>();
  fixture.say(kAsker, proto::CheckRequest{{6}});
  const auto next = fixture.take<core::MakeCheck>();
  REQUIRE(next.size() == 1);
  CHECK(std::ranges::equal(next[0].key, key_of(1)));
  CHECK(made(fixture, 6, key_of(1)).key.empty());  // it has been told
}

TEST_CASE("two generations under one key of a neighbour are both answered with it") {
  Fixture fixture = source(false);
  fixture.start(true);
  fixture.join(kAsker, peer_id(2), 0);
  fixture.say(kAsker, proto::CheckRequest{{3, 4}, key_of(9)});
  CHECK(fixture.take<core::MakeCheck>().size() == 2);
  CHECK(made(fixture, 4, key_of(9)).key == key_of(9));
  CHECK(made(fixture, 3, key_of(9)).key == key_of(9));
}

TEST_CASE("of a generation that is not verified no sums are made, whoever sends the key") {
  Fixture fixture = source(false);
  fixture.start();
  fixture.join(kAsker, peer_id(2), 0);
  fixture.say(kAsker, proto::CheckRequest{{3}, key_of(9)});
  CHECK(fixture.take<core::MakeCheck>().empty());
  const auto replies = fixture.heard<proto::CheckReply>(kAsker);
  REQUIRE(replies.size() == 1);
  CHECK(replies[0] == proto::CheckReply{3, key_of(9), {}});
}

TEST_CASE("keys of its own give a neighbour no larger allowance") {
  Fixture fixture = source();
  fixture.start(true);
  fixture.join(kAsker, peer_id(2), 0);
  for (std::uint8_t i = 0; i < 200; ++i) {
    fixture.say(kAsker, proto::CheckRequest{{i}, key_of(i)});
    fixture.say(kAsker, proto::CheckRequest{{i}});
  }
  CHECK(fixture.take<core::MakeCheck>().size() == 2 * facts::kSumsPerSecond);
  CHECK_FALSE(fixture.closed(kAsker));
  fixture.pass(kSecond);
  for (std::uint8_t i = 0; i < 100; ++i) fixture.say(kAsker, proto::CheckRequest{{i}, key_of(i)});
  CHECK(fixture.take<core::MakeCheck>().size() == facts::kSumsPerSecond);
}
