// Blocks that arrive: right ones, wrong ones, useless ones; and blocks that are made.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "client/core/base/types.h"
#include "codec/encode.h"
#include "codec/span_basis.h"
#include "proto/base/limits.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::DecodeOutcome;
using core::SendBlock;
using core::StoreRow;

namespace {

std::vector<std::uint8_t> random_bytes(std::size_t size, codec::CoefficientStream& random) {
  std::vector<std::uint8_t> bytes(size);
  random.fill(bytes);
  return bytes;
}

std::string text(const std::vector<std::uint8_t>& bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TEST_CASE("an innovative block is stored in its own slot, and a full generation decoded") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  codec::CoefficientStream random(1, 1);
  codec::SpanBasis model(4);
  std::set<std::uint32_t> slots;
  std::vector<core::Vector> by_slot(4);
  std::uint32_t sequence = 0;
  while (!model.full()) {
    std::vector<std::uint8_t> vector(4);
    for (std::uint8_t& c : vector)
      c = static_cast<std::uint8_t>(random.below(2));  // often redundant
    if (std::all_of(vector.begin(), vector.end(), [](auto c) { return c == 0; })) continue;
    const bool innovative = model.insert(vector);
    fixture.pass(300 * kMillisecond);
    fixture.say(1, fixture.coded_block(0, ++sequence, vector));
    const auto stored = fixture.take<StoreRow>();
    REQUIRE(stored.size() == (innovative ? 1 : 0));
    if (!innovative) continue;
    CHECK(stored.front().generation == 0);
    CHECK(*stored.front().vector == vector);
    CHECK(stored.front().sender == peer_id(1));
    CHECK(stored.front().payload.size() == 16);
    CHECK(slots.insert(stored.front().slot).second);
    by_slot[stored.front().slot] = stored.front().vector;
    fixture.core.row_stored(fixture.now);
    CHECK(fixture.core.report().rank == model.rank());
  }
  const auto decodes = fixture.take<core::Decode>();
  REQUIRE(decodes.size() == 1);
  CHECK(decodes.front().vectors == by_slot);
  const auto report = fixture.core.report();
  CHECK(report.blocks_innovative == 4);
  CHECK(report.blocks_redundant == sequence - 4);
  CHECK(report.generations_verified == 0);
  CHECK(report.bytes_verified == 0);
}

TEST_CASE("what breaks the content's shape or the grant is a fault that names the peer") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  proto::Block block = fixture.block(0, 1, 0);
  SUBCASE("an unknown generation") {
    block.generation = 2;
  }
  SUBCASE("a short payload") {
    block.payload = proto::Payload::allocate(15);
  }
  SUBCASE("a long payload") {
    block.payload = proto::Payload::allocate(17);
  }
  SUBCASE("no payload") {
    block.payload = {};
  }
  SUBCASE("an unknown source block") {
    block.source_index = 4;
  }
  SUBCASE("a short vector") {
    block = fixture.coded_block(0, 1, {1, 2, 3});
  }
  SUBCASE("a long vector") {
    block = fixture.coded_block(0, 1, {1, 2, 3, 4, 5});
  }
  SUBCASE("more than was granted") {
    block.sequence = 1000;
  }
  SUBCASE("sequence 0") {
    block.sequence = 0;
  }
  SUBCASE("an impossible State aboard") {
    block.state = proto::State{};
    block.state->acknowledged = 3;
  }
  SUBCASE("a number that does not rise") {
    fixture.say(1, block);
    CHECK_FALSE(fixture.closed(1));
    fixture.take<StoreRow>();
  }
  fixture.say(1, block);
  CHECK(fixture.closed(1));
  CHECK(fixture.take<StoreRow>().empty());
  CHECK(fixture.noticed(peer_id(1).text() + " at 192.0.2.1:4000 sent "));
  CHECK(fixture.heard<proto::Goodbye>(1).front().reason == proto::GoodbyeReason::kProtocolError);
  fixture.say(1, fixture.block(0, 2, 1));  // still on its way
  CHECK(fixture.take<StoreRow>().empty());
}

TEST_CASE("vectors of zeros open no generation and are of no use") {
  Fixture fixture(plain_manifest(100, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  for (std::uint32_t i = 0; i < 40; ++i) {
    fixture.say(1, fixture.coded_block(i, i + 1, {0, 0, 0, 0}));
    fixture.pass(300 * kMillisecond);
  }
  CHECK(fixture.core.report().blocks_redundant == 40);
  CHECK(fixture.core.report().rank == 0);
  CHECK(fixture.take<StoreRow>().empty());
}

TEST_CASE("who sends only what we have is left after a while, innocent repetition is not") {
  Fixture fixture(plain_manifest(4, 64, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  fixture.join(2, peer_id(2), 0, true);
  std::uint32_t first = 0, second = 0, next = 0;
  for (int i = 0; fixture.core.report().peers == 2 && i < 1000; ++i) {
    fixture.pass(100 * kMillisecond);
    fixture.say(1, fixture.block(0, ++first, 0));
    fixture.say(2, fixture.block(next / 64, ++second, i % 4 == 0 ? next % 64 : 0));
    if (i % 4 == 0) ++next;
    for (std::size_t rows = fixture.take<StoreRow>().size(); rows > 0; --rows) {
      fixture.core.row_stored(fixture.now);
    }
  }
  CHECK(first > 50);
  CHECK(fixture.closed(1));
  CHECK(fixture.heard<proto::Goodbye>(1).front().reason == proto::GoodbyeReason::kNotUseful);
  CHECK(fixture.noticed(peer_id(1).text()));
  CHECK(fixture.core.report().peers == 1);
}

TEST_CASE("hundreds of blocks that others have just made redundant are no fault") {
  Fixture fixture(plain_manifest(16, 64, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  std::uint32_t sequence = 0, credit = 0, redundant = 0, next = 0;
  while (redundant < 900 && fixture.core.report().peers == 1) {
    for (const proto::State& state : fixture.heard<proto::State>(1)) {
      credit = std::max(credit, state.credit);
    }
    // Of 400 blocks in a second or two nearly all are redundant, of the next 60 none.
    while (sequence < credit && next < 16 * 64) {
      const bool burst = sequence % 460 < 400;
      const std::uint32_t index = burst ? 0 : ++next;
      redundant += burst ? 1 : 0;
      fixture.say(1, fixture.block(index / 64, ++sequence, index % 64));
    }
    for (std::size_t rows = fixture.take<StoreRow>().size(); rows > 0; --rows) {
      fixture.core.row_stored(fixture.now);
    }
    fixture.pass(10 * kMillisecond);
  }
  CHECK(redundant >= 900);
  CHECK(fixture.core.report().peers == 1);
}

TEST_CASE("below full rank a relay sends fresh vectors in the span of what it received") {
  codec::CoefficientStream random(5, 6);
  for (const std::uint32_t n : {2u, 5u, 16u}) {
    CAPTURE(n);
    Fixture fixture(plain_manifest(3, n, 16));
    fixture.start();
    fixture.join(1, peer_id(1), 0, true);
    fixture.join(2, peer_id(2), 100'000);
    std::uint32_t sequence = 0;
    std::size_t sent = 0;
    for (std::uint32_t g = 0; g < 3; ++g) {
      codec::SpanBasis span(n);
      std::set<std::string> received, made;
      std::vector<core::Vector> slots(n);
      while (span.rank() + 1 < n) {
        const auto vector = random_bytes(n, random);
        fixture.pass(300 * kMillisecond);
        fixture.say(1, fixture.coded_block(g, ++sequence, vector));
        received.insert(text(vector));
        span.insert(vector);
        for (const StoreRow& row : fixture.take<StoreRow>()) slots[row.slot] = row.vector;
        for (const SendBlock& b : fixture.blocks_to(2)) {
          ++sent;
          if (b.block.generation != g) continue;
          CHECK(b.block.recoded);
          CHECK_FALSE(b.block.source_index);
          REQUIRE(b.block.coefficients.size() == n);
          CHECK_FALSE(received.contains(text(b.block.coefficients)));
          CHECK_FALSE(span.is_innovative(b.block.coefficients));
          CHECK(made.insert(text(b.block.coefficients)).second);
          // The mix is what makes that vector out of the slots.
          REQUIRE(b.slots.size() == b.mix.size());
          std::vector<const std::uint8_t*> rows;
          for (const std::uint32_t slot : b.slots) rows.push_back(slots[slot]->data());
          std::vector<std::uint8_t> mixed(n);
          codec::mix_vectors(codec::kernels(), b.mix, rows, mixed);
          CHECK(mixed == b.block.coefficients);
        }
      }
    }
    CHECK(sent > 0);
  }
}

TEST_CASE("a complete peer sends each source block once, then random combinations") {
  Fixture fixture(plain_manifest(3, 8, 16));
  fixture.start(true);
  fixture.join(1, peer_id(1), 1000);
  std::vector<std::uint32_t> order;
  for (const SendBlock& b : fixture.blocks_to(1)) {
    REQUIRE(b.block.source_index);
    CHECK(b.slots.empty());
    CHECK_FALSE(b.block.recoded);
    order.push_back(b.block.generation * 8 + *b.block.source_index);
  }
  REQUIRE(order.size() == 24);
  CHECK(std::is_sorted(order.begin(), order.end()));
  CHECK(std::set<std::uint32_t>(order.begin(), order.end()).size() == 24);
  // It lost two rows: what comes now is coded.
  fixture.say_state(1, 24, 1000, {{1, 6, 4, {}}}, {{0, 1}, {2, 1}});
  const auto more = fixture.blocks_to(1);
  REQUIRE(more.size() == 2);
  for (const SendBlock& b : more) {
    CHECK(b.block.generation == 1);
    CHECK_FALSE(b.block.source_index);
    CHECK(b.block.coefficients.size() == 8);
  }
}

TEST_CASE("coded blocks are sent where systematic ones are not wanted") {
  core::Options options = plain_options();
  bool prefer = false;
  SUBCASE("by option") {
    options.dense = true;
  }
  SUBCASE("by the receiver") {
    prefer = true;
  }
  Fixture fixture(plain_manifest(1, 8, 16), options);
  fixture.start(true);
  fixture.open(1, peer_id(1));
  proto::State state;
  state.credit = 100;
  state.prefer_coded = prefer;
  fixture.say(1, state);
  const auto blocks = fixture.blocks_to(1);
  CHECK(blocks.size() == 8);
  for (const SendBlock& b : blocks) {
    CHECK_FALSE(b.block.source_index);
    CHECK(b.exchangeable);
  }
}

TEST_CASE("a source that leaves when it is safe sends the vectors that it remembers") {
  core::Options options = plain_options();
  options.dense = true;
  options.seeding.kind = core::SeedPolicy::Kind::kWhenSafe;
  Fixture fixture(plain_manifest(1, 8, 16), options);
  fixture.start(true);
  fixture.join(1, peer_id(1), 100);
  const auto blocks = fixture.blocks_to(1);
  CHECK(blocks.size() == 8);
  for (const SendBlock& b : blocks) CHECK_FALSE(b.exchangeable);
}

TEST_CASE("no more than the credit is ever sent, whatever the numbers") {
  for (const std::uint32_t credit : {0u, 1u, 7u, UINT32_MAX}) {
    CAPTURE(credit);
    Fixture fixture(plain_manifest(4, 8, 16));
    fixture.start(true);
    fixture.join(1, peer_id(1), credit);
    std::size_t sent = 0;
    for (int i = 0; i < 20; ++i) {
      sent += fixture.blocks_to(1).size();
      fixture.pass(kSecond);
    }
    CHECK(sent == std::min<std::size_t>(credit, 32));  // 32 in flight are all it can need
  }
}

TEST_CASE("a quota of zero is kept by a source too") {
  Fixture fixture(plain_manifest(2, 16, 16));
  fixture.start(true);
  fixture.open(1, peer_id(1));
  fixture.say_state(1, 0, 1000, {{0, 2, 0, {}}});
  std::size_t of_first = 0, of_second = 0;
  for (int i = 0; i < 20; ++i) {
    for (const SendBlock& b : fixture.blocks_to(1))
      ++(b.block.generation == 0 ? of_first : of_second);
    fixture.pass(kSecond);
  }
  CHECK(of_first == 0);
  CHECK(of_second == 16);
}

TEST_CASE("a null vector brings a block that is innovative for certain") {
  // We hold the span of e0, e1; the neighbour that of e0, e2, and as much of it.
  Fixture fixture(plain_manifest(1, 4, 16));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  fixture.join(2, peer_id(2), 1000);
  fixture.say(1, fixture.block(0, 1, 0));
  fixture.say(1, fixture.block(0, 2, 1));
  const auto first_hand = fixture.blocks_to(2);
  fixture.say_state(2, static_cast<std::uint32_t>(first_hand.size()), 1000, {{0, 2, 4, {}}});
  fixture.pass(100 * kMillisecond);
  fixture.blocks_to(2);
  fixture.say_state(2, 0, 1000, {{0, 2, 4, {0, 7, 0, 9}}});
  const auto blocks = fixture.blocks_to(2);
  REQUIRE(blocks.size() == 1);
  CHECK(blocks.front().block.coefficients[1] != 0);
  CHECK(fixture.blocks_to(2).empty());                       // once
  fixture.say_state(2, 0, 1000, {{0, 2, 4, {0, 0, 1, 9}}});  // out of our reach
  CHECK(fixture.blocks_to(2).empty());
}

TEST_CASE("the largest content with much to tell fits into its frames") {
  // A peer with many generations open, whose blocks are as large as any.
  const std::uint32_t count = 40'000;
  Manifest manifest = plain_manifest(count, 2, limits::kBlockBytesMax);
  Fixture fixture(manifest);
  core::StartState state;
  state.verified.assign(count, false);
  for (std::uint32_t g = 0; g < count; g += 2) state.verified[g] = true;  // spans of one
  for (std::uint32_t g = 1; g < count; g += 2) state.rows.push_back({g, 0, {1, 2}, peer_id(3)});
  fixture.core.start(manifest, state, false, fixture.now);
  fixture.drain();
  fixture.join(1, peer_id(1), 300);
  std::size_t spans = 0, entries = 0, blocks = 0;
  const auto look = [&](const proto::State& s) {
    spans += s.complete.size();
    entries += s.generations.size();
    REQUIRE(s.complete.size() <= limits::kStateSpansMax);
    REQUIRE(s.generations.size() <= limits::kStateEntriesMax);
  };
  for (int i = 0; i < 20; ++i) {
    for (const auto& s : fixture.heard<proto::State>(1)) {
      look(s);
      CHECK(proto::wire_bytes(s) <= limits::kFrameBytesMax);
    }
    for (SendBlock& b : fixture.blocks_to(1)) {
      ++blocks;
      if (b.block.state) look(*b.block.state);
      const std::size_t bytes = proto::wire_bytes(b.block) + limits::kBlockBytesMax + 8;
      CHECK(bytes <= limits::kFrameBytesMax);
    }
    fixture.pass(500 * kMillisecond);
  }
  CHECK(blocks > 0);
  CHECK(spans == count / 2);
  CHECK(entries >= count / 2);
}

namespace {

// The most blocks that may leave together, of those that a source chooses within `turns` turns of a
// millisecond; what it chose in one turn has left at the next.
std::size_t longest_run(Fixture& fixture, int turns) {
  std::size_t longest = 0;
  for (int i = 0; i < turns; ++i) {
    fixture.pass(kMillisecond);
    const std::vector<SendBlock> blocks = fixture.take<SendBlock>();
    std::size_t run = 1;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      longest = std::max(longest, run);
      run = blocks[b].more_follow ? run + 1 : 1;
      if (run == 1) continue;
      REQUIRE(b + 1 < blocks.size());  // what follows comes with it
      CHECK(blocks[b + 1].peer == blocks[b].peer);
      CHECK(blocks[b + 1].block.generation == blocks[b].block.generation);
      CHECK(blocks[b + 1].block.sequence == blocks[b].block.sequence + 1);
    }
    for (const SendBlock& block : blocks)
      fixture.core.blocks_departed(block.peer, 1, 4200, fixture.now);
  }
  return longest;
}

}  // namespace

TEST_CASE("a source that sends very many small blocks chooses several of a generation at once") {
  Fixture fixture(plain_manifest(4000, 64, 4096));
  fixture.start(true);
  for (PeerKey peer = 1; peer <= 20; ++peer)
    fixture.join(peer, peer_id(static_cast<std::uint8_t>(peer)), 200'000);
  CHECK(longest_run(fixture, 20) == 1);  // the rate is not known yet
  CHECK(longest_run(fixture, 2000) == 16);
}

TEST_CASE("where the queue is not its link's a source has more blocks wait, two in a socket") {
  core::LinkFacts link;
  core::Options options = plain_options();
  options.link = &link;
  Fixture source(plain_manifest(8, 16, 1000), options);
  source.start(true);
  constexpr PeerKey kPeers = 12;
  const auto waiting = [&](PeerKey peer) {
    return std::ranges::count_if(source.actions, [peer](const core::Action& action) {
      const auto* send = std::get_if<core::SendBlock>(&action);
      return send && send->peer == peer;
    });
  };
  const auto sockets = [&] {
    int busy = 0;
    for (PeerKey peer = 1; peer <= kPeers; ++peer) busy += waiting(peer) > 0 ? 1 : 0;
    return busy;
  };
  for (PeerKey peer = 1; peer <= kPeers; ++peer)
    source.join(peer, peer_id(static_cast<std::uint8_t>(peer)), 20);
  CHECK(sockets() > 0);
  CHECK(sockets() < kPeers);
  PeerKey served = 1;
  while (waiting(served) == 0) ++served;
  link.times_on_way = 8;
  source.core.blocks_departed(served, 1, 1000, source.now);
  source.drain();
  CHECK(sockets() == kPeers);
  for (PeerKey peer = 1; peer <= kPeers; ++peer)
    CHECK(waiting(peer) == (peer == served ? 1 + 2 : 1));  // of its three one has left
}
