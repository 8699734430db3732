// What a peer wants, and what it tells of that.
#include <doctest/doctest.h>

#include <set>

#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::ContentComplete;
using core::DecodeOutcome;

namespace {

using Spans = std::vector<proto::Span>;

// All that a neighbour was told since the last time it was asked.
struct ToldOfWishes {
  Spans unwanted;
  std::set<std::uint32_t> with_quota;
};
ToldOfWishes told(Fixture& fixture, PeerKey peer) {
  ToldOfWishes all;
  for (const proto::State& state : fixture.heard<proto::State>(peer)) {
    all.unwanted.insert(all.unwanted.end(), state.unwanted.begin(), state.unwanted.end());
    for (const proto::GenerationState& one : state.generations)
      if (one.quota > 0) all.with_quota.insert(one.generation);
  }
  return all;
}

// The neighbour sends the n blocks of g, which is verified then.
void fetch(Fixture& fixture, PeerKey from, std::uint32_t g, std::uint32_t n,
           std::uint32_t& sequence) {
  for (std::uint32_t i = 0; i < n; ++i) {
    fixture.say(from, fixture.block(g, ++sequence, i));
    fixture.pass(kSecond);
  }
  fixture.core.generation_decoded(g, DecodeOutcome::kVerified, fixture.now);
  fixture.drain();
}

// Four generations of two blocks, of which these are wanted.
struct OfFour : Fixture {
  explicit OfFour(std::vector<bool> wanted) : Fixture(plain_manifest(4, 2, 16)) {
    core::StartState state;
    state.wanted = std::move(wanted);
    core.start(manifest, state, false, now);
    drain();
  }
};

}  // namespace

TEST_CASE("a part is complete when its generations are, and the swarm is not told that all is") {
  OfFour fixture({false, true, true, false});
  fixture.join(1, peer_id(1), 1000, true);
  CHECK(told(fixture, 1).unwanted == Spans{{0, 1}, {3, 1}});
  std::uint32_t sequence = 0;
  fetch(fixture, 1, 1, 2, sequence);
  CHECK(fixture.take<ContentComplete>().empty());
  CHECK(fixture.core.report().rank_total == 4);
  CHECK(fixture.core.report().bytes_wanted == 64);
  fetch(fixture, 1, 2, 2, sequence);
  CHECK(fixture.take<ContentComplete>().size() == 1);
  CHECK(fixture.core.content_finished(fixture.now));
  fixture.drain();
  CHECK(fixture.core.report().complete);
  CHECK(fixture.core.report().bytes_verified == 64);
}

TEST_CASE("blocks of a generation that is not wanted are not kept") {
  OfFour fixture({true, false, true, true});
  fixture.join(1, peer_id(1), 1000, true);
  fixture.say(1, fixture.block(1, 1, 0));
  CHECK(fixture.take<core::StoreRow>().empty());
  fixture.say(1, fixture.block(0, 2, 0));
  CHECK(fixture.take<core::StoreRow>().size() == 1);
}

TEST_CASE("who wants more than before tells its neighbours, and is complete once it has that too") {
  OfFour fixture({true, false, false, false});
  fixture.join(1, peer_id(1), 1000);
  fixture.say_state(1, 0, 1000, {}, {{0, 3}});  // it lacks one: both go on after the first part
  std::uint32_t sequence = 0;
  fetch(fixture, 1, 0, 2, sequence);
  CHECK(fixture.take<ContentComplete>().size() == 1);
  REQUIRE(fixture.core.content_finished(fixture.now));
  fixture.drain();
  told(fixture, 1);
  fixture.core.want({true, false, true, false}, fixture.now);
  fixture.drain();
  fixture.pass(kSecond);
  CHECK_FALSE(fixture.core.report().complete);
  const ToldOfWishes news = told(fixture, 1);
  CHECK(news.unwanted.empty());
  CHECK(news.with_quota == std::set<std::uint32_t>{2});
  fetch(fixture, 1, 2, 2, sequence);
  CHECK(fixture.take<ContentComplete>().size() == 1);
}

TEST_CASE("who wants less tells its neighbours, and may be complete at once") {
  OfFour fixture({true, true, false, false});
  fixture.join(1, peer_id(1), 1000, true);
  std::uint32_t sequence = 0;
  fetch(fixture, 1, 0, 2, sequence);
  fixture.say(1, fixture.block(1, ++sequence, 0));
  fixture.pass(kSecond);
  told(fixture, 1);
  fixture.core.want({true, false, false, false}, fixture.now);
  fixture.drain();
  fixture.pass(kSecond);
  CHECK(told(fixture, 1).unwanted == Spans{{1, 1}});
  CHECK(fixture.take<ContentComplete>().size() == 1);
}

TEST_CASE("a choice that changes while the store finishes holds completion up") {
  OfFour fixture({true, false, false, false});
  fixture.join(1, peer_id(1), 1000, true);
  std::uint32_t sequence = 0;
  fetch(fixture, 1, 0, 2, sequence);
  REQUIRE(fixture.take<ContentComplete>().size() == 1);
  fixture.core.want({true, true, false, false}, fixture.now);
  CHECK_FALSE(fixture.core.content_finished(fixture.now));
  fixture.drain();
  CHECK_FALSE(fixture.core.report().complete);
}

TEST_CASE("the same choice again is finished again: files may have become chosen") {
  OfFour fixture({true, false, false, false});
  fixture.join(1, peer_id(1), 1000, true);
  std::uint32_t sequence = 0;
  fetch(fixture, 1, 0, 2, sequence);
  REQUIRE(fixture.core.content_finished(fixture.now));
  fixture.drain();
  fixture.take<ContentComplete>();
  fixture.core.want({true, false, false, false}, fixture.now);
  fixture.drain();
  CHECK(fixture.take<ContentComplete>().size() == 1);
}

TEST_CASE("trackers count a peer that has a part among the incomplete ones") {
  for (const bool all : {false, true}) {
    core::Options options = plain_options();
    options.trackers = {Address{std::nullopt, "tracker", 1}};
    Fixture fixture(plain_manifest(2, 2, 16), options);
    core::StartState state;
    state.verified = {true, all};
    state.wanted = {true, all};
    fixture.core.start(fixture.manifest, state, true, fixture.now);
    fixture.drain();
    CHECK(fixture.core.report().complete);
    fixture.take<core::AnnounceTo>();
    fixture.core.stop(fixture.now);
    fixture.drain();
    const auto announces = fixture.take<core::AnnounceTo>();
    REQUIRE(announces.size() == 1);
    CHECK(announces.front().announce.complete == all);
  }
}

TEST_CASE("a peer that stays while needed goes when its neighbours need nothing that it has") {
  core::Options options = plain_options();
  options.seeding = {};
  Fixture fixture(plain_manifest(2, 2, 16), options);
  core::StartState state;
  state.verified = state.wanted = {true, false};
  fixture.core.start(fixture.manifest, state, true, fixture.now);
  fixture.join(1, peer_id(1), 1000);
  CHECK(fixture.take<core::Finished>().empty());
  fixture.say_state(1, 0, 0, {}, {{0, 1}});
  CHECK(fixture.take<core::Finished>().size() == 1);
}

TEST_CASE("a neighbour that wants less than half of the same is a stranger, until it wants more") {
  core::Neighbours neighbours;
  auto made =
      std::make_unique<core::Neighbour>(1, peer_id(1), "192.0.2.1", std::uint16_t{1}, false, 0);
  core::Neighbour& n = neighbours.add(std::move(made));
  n.holds.set_shape({2, 16, 4 * 2 * 16});
  const core::GenerationSet none(4), all = core::GenerationSet::of_all(4);
  CHECK(n.holds.shares_interest(none, none));
  proto::State state;
  state.unwanted = {{0, 3}};
  REQUIRE(n.holds.apply(std::move(state), 1));
  CHECK_FALSE(n.holds.shares_interest(none, none));
  CHECK_FALSE(n.holds.shares_interest(all, all));  // a peer that has everything
  const core::GenerationSet but_the_last = core::GenerationSet::of({true, true, true, false});
  CHECK(n.holds.shares_interest(but_the_last, none));
  neighbours.note_stranger(n, true);
  neighbours.note_stranger(n, true);
  CHECK(neighbours.strangers() == 1);
  state = {};
  state.complete = {{1, 1}};
  REQUIRE(n.holds.apply(std::move(state), 1));
  CHECK(n.holds.shares_interest(none, none));
  neighbours.erase(1);
  CHECK(neighbours.strangers() == 0);
}
