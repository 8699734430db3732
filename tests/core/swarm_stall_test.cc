// Peers that take and do not give, and neighbours that stand still: the others go on.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "codec/encode.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::SendBlock;

namespace {

std::size_t count_to(const std::vector<SendBlock>& blocks, PeerKey peer) {
  return static_cast<std::size_t>(
      std::count_if(blocks.begin(), blocks.end(), [&](const auto& b) { return b.peer == peer; }));
}

}  // namespace

TEST_CASE("connections that read nothing do not keep the source from serving the others") {
  Fixture fixture(plain_manifest(4, 8, 16));
  fixture.start(true);
  // Four that grant credit and never read: their blocks never depart.
  for (PeerKey peer = 1; peer <= 4; ++peer) {
    fixture.join(peer, peer_id(static_cast<std::uint8_t>(peer)), 100);
  }
  fixture.take<SendBlock>();
  fixture.join(9, peer_id(9), 1000);
  CHECK(count_to(fixture.take<SendBlock>(), 9) == 0);  // three sockets are busy, and may be fast
  std::size_t sent = 0;
  for (int i = 0; i < 300; ++i) {
    fixture.pass(100 * kMillisecond);
    sent += fixture.blocks_to(9).size();
  }
  CHECK(sent >= 32);
}

TEST_CASE("a connection on which nothing moves for long is given up") {
  Fixture fixture(plain_manifest(4, 8, 16));
  fixture.start(true);
  fixture.join(1, peer_id(1), 100);
  fixture.join(2, peer_id(2), 100);
  fixture.blocks_to(2);
  fixture.pass(300 * kSecond, 10'000);
  const auto closed = fixture.take<core::Close>();
  REQUIRE(closed.size() == 1);
  CHECK(closed.front().peer == 1);
}

TEST_CASE("a neighbour is served on after blocks that could not be made") {
  Fixture fixture(plain_manifest(1, 4, 16));
  fixture.start(true);
  fixture.join(1, peer_id(1), 4);
  // The disk fails four times: the receiver hears nothing and can grant no more.
  std::size_t failed = 0;
  while (failed < 4) {
    const auto blocks = fixture.take<SendBlock>();
    REQUIRE_FALSE(blocks.empty());
    for (std::size_t i = 0; i < blocks.size(); ++i, ++failed) {
      fixture.core.blocks_departed(1, 1, 0, fixture.now);
      fixture.drain();
    }
  }
  const auto blocks = fixture.blocks_to(1);
  REQUIRE_FALSE(blocks.empty());
  CHECK(blocks.front().block.sequence == 1);
  for (const SendBlock& b : blocks) CHECK(b.block.sequence <= 4);
}

TEST_CASE("generations that the source has lost do not hide the others in its second pass") {
  const std::uint32_t count = 100;
  Fixture fixture(plain_manifest(count, 1, 16));
  fixture.start(true);
  // The first pass goes to a neighbour that leaves with all of it.
  fixture.join(1, peer_id(1), 100'000);
  CHECK(fixture.blocks_to(1).size() == count);
  fixture.core.peer_closed(1, fixture.now);
  for (std::uint32_t g = 0; g < 80; ++g) {
    fixture.core.generation_lost(g, {ErrorCode::kCorrupt, "read", "changed"}, false, fixture.now);
  }
  fixture.drain();
  fixture.join(2, peer_id(2), 100'000);
  std::set<std::uint32_t> served;
  for (const SendBlock& b : fixture.blocks_to(2)) served.insert(b.block.generation);
  CHECK(served.size() == 20);
  CHECK(*served.begin() == 80);
}

TEST_CASE("a neighbour that claims everything and sends nothing does not hide a stall") {
  Fixture fixture(plain_manifest(1, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0);        // an honest one, with a row or two
  fixture.join(2, peer_id(2), 0, true);  // claims to have it all
  REQUIRE(fixture.heard<proto::State>(1).size() >= 1);
  fixture.say(1, fixture.block(0, 1, 0));
  fixture.say_state(1, 0, 0, {{0, 1, 4, {}}});
  fixture.pass(10 * kSecond, 10'000);
  bool asked = false;
  for (const proto::State& state : fixture.heard<proto::State>(1)) {
    for (const auto& entry : state.generations) asked |= !entry.null_vector.empty();
  }
  CHECK(asked);
}

TEST_CASE("a generation that nobody can complete does not keep null vectors from the next") {
  Fixture fixture(plain_manifest(3, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0);
  for (std::uint32_t g = 0; g < 3; ++g) fixture.say(1, fixture.block(g, g + 1, 0));
  fixture.say_state(1, 0, 0, {{0, 1, 4, {}}, {1, 1, 4, {}}, {2, 1, 4, {}}});
  fixture.pass(10 * kSecond, 10'000);
  std::set<std::uint32_t> asked;
  for (const proto::State& state : fixture.heard<proto::State>(1)) {
    for (const auto& entry : state.generations) {
      if (!entry.null_vector.empty()) asked.insert(entry.generation);
    }
  }
  CHECK(asked == std::set<std::uint32_t>{0, 1, 2});
}

TEST_CASE("a neighbour that answers a null vector is asked again at once, others are not") {
  Fixture fixture(plain_manifest(1, 16, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0);
  fixture.join(2, peer_id(2), 0);
  const auto asked = [&](PeerKey peer) {
    bool found = false;
    for (const proto::State& state : fixture.heard<proto::State>(peer))
      for (const auto& entry : state.generations) found |= !entry.null_vector.empty();
    return found;
  };
  // All three have one row.
  fixture.say(1, fixture.block(0, 1, 0));
  for (PeerKey peer = 1; peer <= 2; ++peer) fixture.say_state(peer, 0, 0, {{0, 1, 8, {}}});
  fixture.pass(kSecond, 10'000);
  CHECK(asked(1));
  CHECK(asked(2));
  // One of them has others; meanwhile the generation does not stand still.
  int again = 0;
  for (std::uint32_t i = 1; i < 12; ++i) {
    CAPTURE(i);
    fixture.say(1, fixture.block(0, i + 1, i));
    fixture.pass(facts::kStandsStill / 2, 10'000);
    again += asked(1);
    CHECK_FALSE(asked(2));
  }
  CHECK(again > 3);
}

TEST_CASE("leases of a generation that stands still are void") {
  // One row is missing; the neighbour that claims more sends nothing new, the other one could.
  Fixture fixture(plain_manifest(1, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0);
  fixture.join(2, peer_id(2), 0, true);
  for (std::uint32_t i = 0; i < 3; ++i) fixture.say(1, fixture.block(0, i + 1, i));
  fixture.say_state(1, 0, 0, {{0, 3, 4, {}}});
  fixture.heard<proto::State>(1);
  // It keeps itself from counting as stalled by sending the same row again and again.
  std::uint32_t quota = 0;
  for (std::uint32_t i = 1; i < 8; ++i) {
    fixture.pass(kSecond, 1000);
    fixture.say(2, fixture.block(0, i, 0));
    for (const proto::State& state : fixture.heard<proto::State>(1)) {
      for (const auto& entry : state.generations) quota = std::max(quota, entry.quota);
    }
  }
  CHECK(fixture.core.report().peers == 2);
  CHECK(quota > 0);
}

TEST_CASE("nobody is waited for who was promised blocks and never sends them") {
  // Eight neighbours hold all the promises there are; the ninth must be granted something.
  Fixture fixture(plain_manifest(1, 16, 16));
  fixture.start();
  for (PeerKey peer = 1; peer <= 8; ++peer) {
    fixture.join(peer, peer_id(static_cast<std::uint8_t>(peer)), 0, true);
  }
  fixture.pass(15 * kSecond, 10'000);
  fixture.join(9, peer_id(9), 0, true);
  fixture.pass(kSecond, 10'000);
  std::uint32_t credit = 0;
  for (const auto& state : fixture.heard<proto::State>(9)) credit = std::max(credit, state.credit);
  CHECK(credit > 1);
}
