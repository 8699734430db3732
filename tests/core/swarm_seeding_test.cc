// Completion, how long a complete peer stays, and content that is lost again.
#include <doctest/doctest.h>

#include <algorithm>

#include "proto/base/limits.h"
#include "tests/core/bench.h"

using namespace firn;
using namespace firn::test;
using core::ContentComplete;
using core::DecodeOutcome;
using core::Finished;
using core::SeedPolicy;
using Event = proto::AnnounceEvent;

namespace {

core::Options seeding(SeedPolicy policy) {
  core::Options options = plain_options();
  options.seeding = policy;
  options.trackers = {Address{std::nullopt, "tracker", 1}};
  return options;
}

// Downloads all from neighbour 1, which has everything, and answers for the disk.
void download(Bench& bench) {
  std::uint32_t sequence = 0;
  for (std::uint32_t g = 0; g < bench.shape().generation_count(); ++g) {
    for (std::uint32_t i = 0; i < bench.shape().generation_size; ++i) {
      bench.say(1, bench.block(g, ++sequence, i));
      for (std::size_t rows = bench.take<core::StoreRow>().size(); rows > 0; --rows) {
        bench.core.row_stored(bench.now);
      }
      bench.pass(50 * kMillisecond);
    }
    REQUIRE(bench.take<core::Decode>().size() == 1);
    bench.core.generation_decoded(g, DecodeOutcome::kVerified, bench.now);
    bench.drain();
  }
  bench.pass(10 * kMillisecond);
}

}  // namespace

TEST_CASE("a download completes, is announced, and the peer goes as its policy says") {
  SeedPolicy policy;
  TimeUs least = 0, most = 0;
  bool leech = true;
  SUBCASE("none") {
    policy.kind = SeedPolicy::Kind::kNone;
  }
  SUBCASE("while needed, and nobody needs anything") {
    leech = false;
  }
  SUBCASE("while needed, thirty seconds at most") {
    least = most = 30 * kSecond;
  }
  SUBCASE("for a duration") {
    policy.kind = SeedPolicy::Kind::kDuration;
    policy.duration = 77 * kSecond;
    least = most = policy.duration;
  }
  SUBCASE("for ever") {
    policy.kind = SeedPolicy::Kind::kForever;
    least = most = core::kNever;
  }
  SUBCASE("for a duration without end") {
    policy.kind = SeedPolicy::Kind::kDuration;
    policy.duration = core::kNever;
    least = most = core::kNever;
  }
  Bench bench(plain_manifest(3, 4, 16), seeding(policy));
  bench.core.tracker_replied(0, {1800, 1, 1, false, {}}, bench.now);
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  if (leech) bench.join(2, peer_id(2), 0);
  bench.take<core::AnnounceTo>();
  download(bench);
  CHECK(bench.take<ContentComplete>().size() == 1);
  CHECK(bench.core.report().rank == 12);
  CHECK(bench.core.report().bytes_verified == bench.manifest.info.shape.content_bytes);
  CHECK_FALSE(bench.core.report().complete);
  CHECK(bench.take<Finished>().empty());
  const TimeUs completed = bench.now;
  bench.core.content_finished(bench.now);
  bench.drain();
  CHECK(bench.core.report().complete);
  const auto announces = bench.take<core::AnnounceTo>();
  REQUIRE_FALSE(announces.empty());
  CHECK(announces.front().announce.complete);
  if (least > 0) CHECK(announces.front().announce.event == Event::kCompleted);
  TimeUs finished = core::kNever;
  while (bench.now - completed < 200 * kSecond) {
    if (!bench.take<Finished>().empty()) {
      finished = bench.now - completed;
      break;
    }
    bench.pass(kSecond, 1000);
  }
  CHECK(finished >= least);
  CHECK(finished <= (most == core::kNever ? most : most + kSecond));
  CHECK(bench.take<ContentComplete>().empty());
}

TEST_CASE("a peer that stays while needed goes when the last needy neighbour is complete") {
  Bench bench(plain_manifest(1, 4, 16), seeding({}));
  bench.start(true);
  // Complete from the start, alone: no peer needs anything.
  CHECK(bench.take<Finished>().size() == 1);

  Bench two(plain_manifest(1, 4, 16), seeding({}));
  two.start();
  two.join(1, peer_id(1), 0, true);
  two.join(2, peer_id(2), 0);
  download(two);
  two.core.content_finished(two.now);
  two.drain();
  two.pass(5 * kSecond);
  CHECK(two.take<Finished>().empty());
  two.say_state(2, 0, 0, {}, {{0, 1}});
  CHECK(two.take<Finished>().size() == 1);
}

TEST_CASE("a ratio counts what was sent against the content") {
  SeedPolicy policy;
  policy.kind = SeedPolicy::Kind::kRatio;
  policy.ratio = 2;
  Bench bench(plain_manifest(2, 4, 1000), seeding(policy));
  bench.start(true);
  bench.join(1, peer_id(1), 1000);
  bench.join(2, peer_id(2), 1000);
  std::size_t sent = 0;
  for (int i = 0; i < 100 && bench.take<Finished>().empty(); ++i) {
    sent += bench.blocks_to(1, 1000).size() + bench.blocks_to(2, 1000).size();
    bench.pass(kSecond, 1000);
  }
  CHECK(bench.core.report().blocks_sent == 16);
  CHECK(sent <= 17);
  CHECK(bench.core.next_wake() == core::kNever);
}

TEST_CASE("an empty content is complete at once, and its peers part") {
  Manifest manifest = plain_manifest(0, 4, 16);
  REQUIRE(manifest.info.shape.generation_count() == 0);
  Bench getter(manifest), seed(manifest);
  getter.start();
  CHECK(getter.take<ContentComplete>().size() == 1);
  getter.core.content_finished(getter.now);
  getter.drain();
  CHECK(getter.core.report().complete);
  CHECK(getter.core.report().rank_total == 0);
  seed.start(true);
  CHECK(seed.core.report().complete);
  seed.join(1, peer_id(1), 4);
  CHECK(seed.closed(1));
  CHECK(seed.take<core::SendBlock>().empty());
}

TEST_CASE("two complete peers part") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.start(true);
  bench.open(1, peer_id(1));
  CHECK(bench.heard<proto::State>(1).size() == 1);
  bench.say_state(1, 0, 4, {}, {{0, 2}});
  CHECK(bench.heard<proto::Goodbye>(1).front().reason == proto::GoodbyeReason::kNotUseful);
  CHECK(bench.closed(1));
}

TEST_CASE(
    "a lost generation is neither served nor fetched again, and the peer still goes in time") {
  SeedPolicy policy;
  policy.kind = SeedPolicy::Kind::kDuration;
  policy.duration = 60 * kSecond;
  Bench bench(plain_manifest(2, 4, 16), seeding(policy));
  bench.start(true);
  bench.join(1, peer_id(1), 1000);
  bench.core.generation_lost(0, {ErrorCode::kCorrupt, "read a.txt", "changed"}, false, bench.now);
  bench.drain();
  CHECK(bench.noticed("not served any more"));
  CHECK(bench.core.report().generations_verified == 1);
  bench.take<core::SendBlock>();
  bench.join(2, peer_id(2), 1000, true);  // it could give us what we have lost
  bench.pass(5 * kSecond, 1000);
  for (const core::SendBlock& b : bench.blocks_to(1)) CHECK(b.block.generation == 1);
  // The files are the user's by now: nothing must be written into them.
  std::uint32_t credit = 0;
  for (const auto& state : bench.heard<proto::State>(2)) credit = std::max(credit, state.credit);
  for (const auto& state : bench.heard<proto::State>(1)) credit = std::max(credit, state.credit);
  CHECK(credit == 0);
  CHECK(bench.take<Finished>().empty());
  CHECK(bench.pass(60 * kSecond, 1000) < 1000);
  CHECK(bench.take<Finished>().size() == 1);
}

TEST_CASE("a source tells its neighbours what it cannot serve any more, late comers too") {
  Bench bench(plain_manifest(6, 4, 16));
  bench.start(true);
  bench.join(1, peer_id(1), 0);
  bench.heard<proto::State>(1);
  for (const std::uint32_t g : {1, 2, 4})
    bench.core.generation_lost(g, {ErrorCode::kCorrupt, "read a.txt", "changed"}, false, bench.now);
  bench.drain();
  bench.pass(kSecond);
  bench.join(2, peer_id(2), 0);
  const std::vector<proto::Span> lost{{1, 2}, {4, 1}};
  for (const PeerKey peer : {1, 2}) {
    std::vector<proto::Span> withdrawn, unwanted;
    for (const auto& state : bench.heard<proto::State>(peer)) {
      withdrawn.insert(withdrawn.end(), state.withdrawn.begin(), state.withdrawn.end());
      unwanted.insert(unwanted.end(), state.unwanted.begin(), state.unwanted.end());
    }
    CHECK(withdrawn == lost);
    CHECK(unwanted == lost);
  }
  // One that is right again is complete, and no State takes that back.
  bench.core.generation_lost(5, {ErrorCode::kIo, "read b.txt", "gone"}, false, bench.now);
  bench.core.generation_regained(5, bench.now);
  bench.drain();
  bench.pass(kSecond);
  for (const auto& state : bench.heard<proto::State>(1)) {
    CHECK(state.withdrawn.empty());
    CHECK(state.unwanted.empty());
  }
}

TEST_CASE("more losses than a State has room for are told in several") {
  constexpr std::uint32_t kLost = 3000;  // every other one: 2 spans each
  Bench bench(plain_manifest(2 * kLost, 4, 16));
  bench.start(true);
  bench.join(1, peer_id(1), 0);
  bench.heard<proto::State>(1);
  for (std::uint32_t g = 0; g < kLost; ++g)
    bench.core.generation_lost(2 * g, {ErrorCode::kCorrupt, "read a", "changed"}, false, bench.now);
  bench.drain();
  bench.pass(5 * kSecond);
  std::size_t told = 0;
  for (const auto& state : bench.heard<proto::State>(1)) {
    CHECK(state.complete.size() + state.withdrawn.size() + state.unwanted.size() <=
          limits::kStateSpansMax);
    told += state.withdrawn.size();
  }
  CHECK(told == kLost);
}

TEST_CASE("a peer that stays while needed goes when its neighbours have all that they want") {
  Bench bench(plain_manifest(1, 4, 16), seeding({}));
  bench.start();
  bench.join(1, peer_id(1), 0, true);
  bench.join(2, peer_id(2), 0);
  download(bench);
  bench.core.content_finished(bench.now);
  bench.drain();
  bench.pass(5 * kSecond);
  CHECK(bench.take<Finished>().empty());
  proto::State state;
  state.unwanted = {{0, 1}};
  bench.say(2, state);
  CHECK(bench.take<Finished>().size() == 1);
}

// A core that has verified generation 0 of two, with one neighbour that holds everything.
void verify_first(Bench& bench) {
  core::StartState state;
  state.verified = {true, false};
  bench.core.start(bench.manifest, state, false, bench.now);
  bench.drain();
  bench.join(1, peer_id(1), 1000, true);
}

TEST_CASE("a download goes on without a lost generation that is left alone, and completes") {
  Bench bench(plain_manifest(2, 4, 16), seeding({}));
  verify_first(bench);
  bench.core.generation_lost(0, {ErrorCode::kCorrupt, "read a.txt", "changed"}, false, bench.now);
  bench.drain();
  CHECK(bench.noticed("not served any more"));
  bench.join(2, peer_id(2), 1000);
  bench.pass(kSecond);
  for (const PeerKey peer : {1, 2}) {
    std::uint32_t quota = 0, told = 0;
    for (const auto& message : bench.heard<proto::State>(peer)) {
      for (const auto& entry : message.generations) {
        if (entry.generation == 0) quota = entry.quota, ++told;
      }
    }
    CHECK(told > 0);  // that it wants none of it
    CHECK(quota == 0);
  }
  bench.say(1, bench.block(0, 1, 0));
  CHECK(bench.take<core::StoreRow>().empty());
  for (std::uint32_t i = 0; i < 3; ++i) bench.say(1, bench.block(1, 2 + i, i));
  bench.pass(kSecond);
  bench.say(1, bench.block(1, 5, 3));
  CHECK(bench.take<core::StoreRow>().size() == 4);
  bench.core.generation_decoded(1, core::DecodeOutcome::kVerified, bench.now);
  bench.drain();
  CHECK(bench.take<core::ContentComplete>().size() == 1);
}

TEST_CASE("a lost generation that is to be fetched again holds completion up") {
  Bench bench(plain_manifest(2, 4, 16), seeding({}));
  verify_first(bench);
  for (std::uint32_t i = 0; i < 4; ++i) bench.say(1, bench.block(1, 1 + i, i));
  bench.core.generation_decoded(1, core::DecodeOutcome::kVerified, bench.now);
  bench.drain();
  REQUIRE(bench.take<core::ContentComplete>().size() == 1);
  bench.core.generation_lost(0, {ErrorCode::kCorrupt, "read back", "lost"}, true, bench.now);
  bench.drain();
  CHECK(bench.noticed("fetched again"));
  bench.pass(kSecond);
  for (std::uint32_t i = 0; i < 4; ++i) bench.say(1, bench.block(0, 5 + i, i));
  CHECK(bench.take<core::StoreRow>().size() == 8);
  bench.core.generation_decoded(0, core::DecodeOutcome::kVerified, bench.now);
  bench.drain();
  CHECK(bench.take<core::ContentComplete>().size() == 1);
}

TEST_CASE("a lost generation that is right again is served again, and told to the neighbours") {
  Bench bench(plain_manifest(2, 4, 16));
  bench.start(true);
  bench.core.generation_lost(0, {ErrorCode::kIo, "read a.txt", "gone"}, false, bench.now);
  bench.join(1, peer_id(1), 1000);
  for (const core::SendBlock& b : bench.blocks_to(1)) CHECK(b.block.generation == 1);
  bench.heard<proto::State>(1);
  bench.core.generation_regained(0, bench.now);
  bench.drain();
  CHECK(bench.core.report().generations_verified == 2);
  bench.pass(kSecond);
  std::uint32_t told = 0, served = 0;
  const auto look = [&](const proto::State& state) {
    for (const auto& span : state.complete) told += span.first == 0 ? 1 : 0;
  };
  for (const auto& state : bench.heard<proto::State>(1)) look(state);
  for (const core::SendBlock& b : bench.blocks_to(1)) {
    served += b.block.generation == 0 ? 1 : 0;
    if (b.block.state) look(*b.block.state);
  }
  CHECK(told == 1);
  CHECK(served > 0);
}

TEST_CASE("a peer that resumes with every row decodes them without its neighbours") {
  Bench bench(plain_manifest(2, 4, 16), seeding({}));
  core::StartState state;
  state.verified = {true, false};
  for (std::uint32_t slot = 0; slot < 4; ++slot) {
    std::vector<std::uint8_t> vector(4, 0);
    vector[3 - slot] = 1;
    state.rows.push_back({1, slot, vector, peer_id(3)});
  }
  state.rows.push_back({0, 0, std::vector<std::uint8_t>(4, 1), peer_id(3)});     // verified already
  state.rows.push_back({1, 1, std::vector<std::uint8_t>(4, 1), peer_id(3)});     // slot taken
  state.rows.push_back({7, 0, std::vector<std::uint8_t>(4, 1), peer_id(3)});     // no such
  state.rows.push_back({1, 0, std::vector<std::uint8_t>(3, 1), peer_id(3)});     // wrong length
  state.rows.push_back({1, 4096, std::vector<std::uint8_t>(4, 1), peer_id(3)});  // no such slot
  bench.core.start(bench.manifest, state, false, bench.now);
  bench.drain();
  CHECK(bench.core.report().rank == 8);
  const auto decodes = bench.take<core::Decode>();
  REQUIRE(decodes.size() == 1);
  REQUIRE(decodes.front().vectors.size() == 4);
  for (std::size_t slot = 0; slot < 4; ++slot)
    CHECK((*decodes.front().vectors[slot])[3 - slot] == 1);
  bench.core.generation_decoded(1, DecodeOutcome::kVerified, bench.now);
  bench.drain();
  CHECK(bench.take<ContentComplete>().size() == 1);
}

TEST_CASE("a source that leaves when safe does so when a neighbour says that it has everything") {
  core::Options options = plain_options();
  options.seeding.kind = core::SeedPolicy::Kind::kWhenSafe;
  Bench bench(plain_manifest(3, 4, 16), options);
  bench.start(true);
  bench.pass(60 * kSecond);
  CHECK(bench.take<core::Finished>().empty());  // no neighbour is there
  bench.join(1, peer_id(1), 0);
  bench.pass(5 * kSecond);
  CHECK(bench.take<core::Finished>().empty());
  // It says so and parts from us in one breath, as one complete peer does from another.
  proto::State state;
  state.complete = {{0, 3}};
  bench.core.message(1, state, 20, bench.now);
  bench.core.message(1, proto::Goodbye{proto::GoodbyeReason::kNotUseful, ""}, 10, bench.now);
  bench.drain();
  CHECK(bench.take<core::Finished>().size() == 1);
}

TEST_CASE("who connects, gets nothing and leaves does not make a source go back") {
  Bench bench(plain_manifest(10, 4, 16));
  bench.start(true);
  bench.join(1, peer_id(1), 20);
  REQUIRE(bench.blocks_to(1).size() == 20);
  // Relays that are far behind a source say such things.
  bench.say_state(1, 20, 20, {{0, 2, 4, {}}, {1, 2, 4, {}}, {2, 2, 4, {}}, {3, 2, 4, {}}});
  bool served_stranger = false;
  SUBCASE("a stranger that gets nothing") {
    bench.open(2, peer_id(2));
  }
  SUBCASE("one that has got rows, which are lost with it") {
    served_stranger = true;
    bench.join(2, peer_id(2), 4);
    REQUIRE(bench.blocks_to(2).size() == 4);
  }
  bench.pass(10 * kMillisecond);
  bench.core.peer_closed(2, bench.now);
  bench.drain();
  bench.pass(kSecond);
  bench.say_state(1, 20, 21, {});  // takes one more
  bench.pass(kSecond);
  bench.say_state(1, 21, 22, {});
  std::uint32_t back = 0;
  for (const core::SendBlock& sent : bench.blocks_to(1)) back += sent.block.generation < 5 ? 1 : 0;
  CHECK((back > 0) == served_stranger);
}
