// Check sums for neighbours, served by a peer that speaks for the authority.
#include "client/core/policy/constants.h"
#include "proto/base/limits.h"
#include "tests/core/bench.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

namespace {

constexpr PeerKey kAsker = 2;
using Key = std::vector<std::uint8_t>;

Key key_of(std::uint8_t value) {
  return Key(limits::kCheckKeyBytes, value);
}

// A source; it speaks for the authority, or does not.
Bench source(bool certified = true) {
  const Manifest content = vouched_manifest(200, 4, 64);
  core::Options options = plain_options();
  if (certified) {
    options.certificate = make_certificate(content.id, options.self, kAuthoritySecret).value();
  }
  return Bench(content, options);
}

std::vector<std::uint32_t> numbers(std::uint32_t first, std::uint32_t count) {
  std::vector<std::uint32_t> all;
  for (std::uint32_t i = 0; i < count; ++i) all.push_back(first + i);
  return all;
}

// What is sent for sums of g that were made under this key.
proto::CheckReply made(Bench& bench, std::uint32_t g, const Key& key) {
  bench.core.proof_made(kAsker, proto::CheckReply{g, key, Key(16, 1)}, bench.now);
  bench.drain();
  const auto replies = bench.heard<proto::CheckReply>(kAsker);
  REQUIRE(replies.size() == 1);
  CHECK(replies[0].generation == g);
  CHECK(replies[0].sums == Key(16, 1));
  return replies[0];
}

}  // namespace

TEST_CASE("a neighbour has a key of its own, which it is told once") {
  Bench bench = source();
  bench.start(true);
  bench.join(kAsker, peer_id(2), 0);
  bench.say(kAsker, proto::CheckRequest{{3, 7}});
  const auto wanted = bench.take<core::MakeCheck>();
  REQUIRE(wanted.size() == 2);
  CHECK(wanted[0].peer == kAsker);
  CHECK(wanted[1].generation == 7);
  CHECK(wanted[0].tag_bytes == policy::kCheckTagBytes);
  CHECK(wanted[0].key.empty());
  // Two keys were drawn before one was told: each goes along with its sums.
  CHECK(made(bench, 3, key_of(1)).key == key_of(1));
  CHECK(made(bench, 7, key_of(2)).key == key_of(2));
  bench.say(kAsker, proto::CheckRequest{{8}});
  const auto next = bench.take<core::MakeCheck>();
  REQUIRE(next.size() == 1);
  CHECK(next[0].key == key_of(2));
  CHECK(made(bench, 8, next[0].key).key.empty());

  // On a new connection nothing of it is known.
  bench.core.peer_closed(kAsker, bench.now);
  bench.join(3, peer_id(2), 0);
  bench.say(3, proto::CheckRequest{{8}});
  const auto again = bench.take<core::MakeCheck>();
  REQUIRE(again.size() == 1);
  CHECK(again[0].key.empty());
}

TEST_CASE("what a neighbour asks for beyond its allowance is ignored") {
  Bench bench = source();
  bench.start(true);
  bench.join(kAsker, peer_id(2), 0);
  bench.say(kAsker, proto::CheckRequest{numbers(0, 60)});
  bench.say(kAsker, proto::CheckRequest{numbers(60, 60)});
  CHECK(bench.take<core::MakeCheck>().size() == policy::kChecksMax);
  CHECK_FALSE(bench.closed(kAsker));
  bench.pass(kSecond);
  bench.say(kAsker, proto::CheckRequest{numbers(120, 60)});
  CHECK(bench.take<core::MakeCheck>().size() == policy::kChecksPerSecond);
  bench.join(3, peer_id(3), 0);  // others have their own
  bench.say(3, proto::CheckRequest{numbers(0, 10)});
  CHECK(bench.take<core::MakeCheck>().size() == 10);
}

TEST_CASE("a peer that does not speak for the authority has no sums, and says so") {
  Bench bench = source(false);
  bench.start(true);
  bench.join(kAsker, peer_id(2), 0);
  bench.say(kAsker, proto::CheckRequest{{3}});
  CHECK(bench.take<core::MakeCheck>().empty());
  const auto replies = bench.heard<proto::CheckReply>(kAsker);
  REQUIRE(replies.size() == 1);
  CHECK(replies[0] == proto::CheckReply{3, {}, {}});
}

TEST_CASE("a request for a generation that does not exist is a fault") {
  Bench bench = source();
  bench.start(true);
  bench.join(kAsker, peer_id(2), 0);
  bench.say(kAsker, proto::CheckRequest{{3, 200}});
  CHECK(bench.closed(kAsker));
}

TEST_CASE("sums that were made for a neighbour that has left are sent to nobody") {
  Bench bench = source();
  bench.start(true);
  bench.join(kAsker, peer_id(2), 0);
  bench.say(kAsker, proto::CheckRequest{{3}});
  bench.core.peer_closed(kAsker, bench.now);
  bench.core.proof_made(kAsker, proto::CheckReply{3, key_of(1), Key(16, 1)}, bench.now);
  bench.drain();
  CHECK(bench.heard<proto::CheckReply>(kAsker).empty());
}
