// Generations that a user reads now: what neighbours are told of them, and that they are opened.
#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Urgent;
using proto::kAwaited;
using proto::kNotUrgent;
using proto::kReadSoon;

namespace {

// So many that little is missing nowhere, of four blocks each.
constexpr std::uint32_t kMany = 500;

struct Reader : Fixture {
  explicit Reader(core::StartState state = {}, core::Options options = plain_options(),
                  std::uint32_t n = 4)
      : Fixture(plain_manifest(kMany, n, 16), std::move(options)) {
    state.verified.resize(kMany);
    core.start(manifest, state, false, now);
    drain();
  }
  void hurry(Urgent urgent) {
    core.hurry(std::move(urgent), now);
    drain();
  }
  // The last word on each generation that the neighbour was told of since the last time it was
  // asked.
  std::map<std::uint32_t, proto::GenerationState> told_of(PeerKey peer) {
    std::map<std::uint32_t, proto::GenerationState> last;
    for (proto::State& state : heard<proto::State>(peer))
      for (proto::GenerationState& one : state.generations) last[one.generation] = one;
    return last;
  }
  // Without what it was told of for other reasons.
  std::map<std::uint32_t, std::uint32_t> urgencies(PeerKey peer) {
    std::map<std::uint32_t, std::uint32_t> all;
    for (const auto& [g, one] : told_of(peer))
      if (one.urgency > 0 || ended.contains(g)) all[g] = one.urgency;
    return all;
  }
  std::set<std::uint32_t> ended;  // what is not read any more
  // How long it takes until the neighbour is told of g.
  TimeUs until_told(PeerKey peer, std::uint32_t g) {
    const TimeUs from = now;
    while (!told_of(peer).contains(g)) {
      REQUIRE(now < from + 10 * kSecond);
      pass(kMillisecond);
    }
    return now - from;
  }
  // Whether a block of g is taken.
  bool takes(std::uint32_t g, std::uint32_t index = 0) {
    say(1, block(g, ++sequence, index));
    const std::size_t rows = take<core::StoreRow>().size();
    for (std::size_t i = 0; i < rows; ++i) core.row_stored(now);
    pass(kSecond);  // it is granted more blocks
    return rows > 0;
  }
  std::uint32_t sequence = 0;
};

using Levels = std::map<std::uint32_t, std::uint32_t>;

}  // namespace

TEST_CASE("who reads on tells each neighbour what is read now, and what is not any more") {
  Reader reader;
  for (const PeerKey peer : {1u, 2u}) reader.join(peer, peer_id(peer), 1000, true);
  reader.pass(kSecond);
  for (const PeerKey peer : {1u, 2u}) reader.told_of(peer);
  reader.hurry({{70, kAwaited}, {71, kReadSoon}});
  reader.pass(kSecond);
  for (const PeerKey peer : {1u, 2u})
    CHECK(reader.urgencies(peer) == Levels{{70, kAwaited}, {71, kReadSoon}});
  reader.hurry({{71, kAwaited}, {72, kReadSoon}});
  reader.ended = {70};
  reader.pass(kSecond);
  for (const PeerKey peer : {1u, 2u})
    CHECK(reader.urgencies(peer) == Levels{{70, kNotUrgent}, {71, kAwaited}, {72, kReadSoon}});
  reader.hurry({});
  reader.ended = {71, 72};
  reader.pass(kSecond);
  for (const PeerKey peer : {1u, 2u})
    CHECK(reader.urgencies(peer) == Levels{{71, kNotUrgent}, {72, kNotUrgent}});
}

TEST_CASE("what is read now is told sooner than what has come") {
  Reader reader;
  for (const PeerKey peer : {1u, 2u}) reader.join(peer, peer_id(peer), 1000, true);
  reader.pass(kSecond);
  reader.say(2, reader.block(300, 1, 0));
  reader.until_told(1, 300);  // from now on both times begin with a State
  reader.say(2, reader.block(301, 2, 0));
  const TimeUs usual = reader.until_told(1, 301);
  reader.hurry({{70, kAwaited}});
  CHECK(reader.until_told(1, 70) < usual / 2);
}

TEST_CASE("a neighbour that comes later is told what is read now, and not that something else is") {
  Reader reader;
  reader.hurry({{69, kAwaited}, {70, kAwaited}});
  reader.hurry({{70, kAwaited}, {71, kReadSoon}});
  reader.join(1, peer_id(1), 1000, true);
  reader.pass(kSecond);
  CHECK(reader.urgencies(1) == Levels{{70, kAwaited}, {71, kReadSoon}});
}

TEST_CASE("of what is read and nobody has told of, each neighbour may send a window") {
  Reader reader;
  for (PeerKey peer = 1; peer <= 6; ++peer)
    reader.join(peer, peer_id(static_cast<std::uint8_t>(peer)), 1000);
  reader.hurry({{70, kAwaited}});
  reader.pass(kSecond);
  for (PeerKey peer = 1; peer <= 6; ++peer)
    CHECK(reader.told_of(peer).at(70).quota >= facts::kWindowAtStart);
}

TEST_CASE("that something verified or unwanted is read is no matter") {
  core::StartState state;
  state.verified.assign(kMany, false);
  state.wanted.assign(kMany, true);
  state.verified[5] = true;
  state.wanted[6] = false;
  Reader reader(state);
  reader.join(1, peer_id(1), 1000, true);
  reader.pass(kSecond);
  reader.told_of(1);
  reader.hurry({{5, kAwaited}, {6, kAwaited}, {7, kAwaited}});
  reader.pass(kSecond);
  CHECK(reader.urgencies(1) == Levels{{7, kAwaited}});
  CHECK_FALSE(reader.takes(6));
  reader.join(2, peer_id(2), 1000, true);
  reader.pass(kSecond);
  CHECK(reader.urgencies(2) == Levels{{7, kAwaited}});
  // An entry would take back that it is complete.
  for (std::uint32_t i = 0; i < 4; ++i) reader.say(1, reader.block(7, ++reader.sequence, i));
  reader.pass(kSecond);
  reader.told_of(1);
  reader.core.generation_decoded(7, core::DecodeOutcome::kVerified, reader.now);
  reader.hurry({{7, kAwaited}, {8, kAwaited}});
  reader.pass(kSecond);
  CHECK(reader.urgencies(1) == Levels{{8, kAwaited}});
  reader.hurry({});
  reader.ended = {8};
  reader.pass(kSecond);
  CHECK(reader.urgencies(1) == Levels{{8, kNotUrgent}});
}

TEST_CASE("what is read before it is chosen is asked for once it is chosen") {
  core::StartState state;
  state.wanted.assign(kMany, true);
  state.wanted[6] = false;
  Reader reader(state);
  reader.join(1, peer_id(1), 1000, true);
  reader.hurry({{6, kAwaited}});
  reader.pass(kSecond);
  reader.told_of(1);
  reader.core.want(std::vector<bool>(kMany, true), reader.now);
  reader.pass(kSecond);
  const auto told = reader.told_of(1);
  REQUIRE(told.contains(6));
  CHECK(told.at(6).quota > 0);
  CHECK(told.at(6).urgency == kAwaited);
}

TEST_CASE("what is read is taken where there is memory for nothing else, and only that") {
  constexpr std::uint32_t kSize = 64;
  core::Options options = plain_options();
  options.memory_bytes = 1 << 14;
  Reader reader({}, options, kSize);
  reader.join(1, peer_id(1), 1000, true);
  std::uint32_t open = 0;
  while (reader.takes(open)) REQUIRE(++open < kMany / 2);
  reader.pass(kSecond);
  reader.told_of(1);
  reader.hurry({{400, kAwaited}});
  reader.pass(kSecond);
  CHECK(reader.told_of(1).at(400).quota > 0);
  CHECK_FALSE(reader.takes(401));
  CHECK(reader.takes(400));
  reader.hurry({{402, kReadSoon}});
  CHECK(reader.takes(402));
  reader.hurry({});
  reader.pass(kSecond);
  CHECK_FALSE(reader.takes(403));
  // Two more are open than there is memory for: one that is verified makes no room.
  for (std::uint32_t i = 1; i < kSize; ++i) REQUIRE(reader.takes(400, i));
  reader.core.generation_decoded(400, core::DecodeOutcome::kVerified, reader.now);
  reader.drain();
  CHECK_FALSE(reader.takes(403));
}
