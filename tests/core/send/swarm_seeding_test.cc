// Completion, how long a complete peer stays, and content that is lost again.
#include <doctest/doctest.h>

#include <algorithm>

#include "proto/base/limits.h"
#include "tests/core/fixture.h"

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
void download(Fixture& fixture) {
  std::uint32_t sequence = 0;
  for (std::uint32_t g = 0; g < fixture.shape().generation_count(); ++g) {
    for (std::uint32_t i = 0; i < fixture.shape().generation_size; ++i) {
      fixture.say(1, fixture.block(g, ++sequence, i));
      for (std::size_t rows = fixture.take<core::StoreRow>().size(); rows > 0; --rows) {
        fixture.core.row_stored(fixture.now);
      }
      fixture.pass(50 * kMillisecond);
    }
    REQUIRE(fixture.take<core::Decode>().size() == 1);
    fixture.core.generation_decoded(g, DecodeOutcome::kVerified, fixture.now);
    fixture.drain();
  }
  fixture.pass(10 * kMillisecond);
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
  Fixture fixture(plain_manifest(3, 4, 16), seeding(policy));
  fixture.core.tracker_replied(0, {1800, 1, 1, false, {}}, fixture.now);
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  if (leech) fixture.join(2, peer_id(2), 0);
  fixture.take<core::AnnounceTo>();
  download(fixture);
  CHECK(fixture.take<ContentComplete>().size() == 1);
  CHECK(fixture.core.report().rank == 12);
  CHECK(fixture.core.report().bytes_verified == fixture.manifest.info.shape.content_bytes);
  CHECK_FALSE(fixture.core.report().complete);
  CHECK(fixture.take<Finished>().empty());
  const TimeUs completed = fixture.now;
  fixture.core.content_finished(fixture.now);
  fixture.drain();
  CHECK(fixture.core.report().complete);
  const auto announces = fixture.take<core::AnnounceTo>();
  REQUIRE_FALSE(announces.empty());
  CHECK(announces.front().announce.complete);
  if (least > 0) CHECK(announces.front().announce.event == Event::kCompleted);
  TimeUs finished = core::kNever;
  while (fixture.now - completed < 200 * kSecond) {
    if (!fixture.take<Finished>().empty()) {
      finished = fixture.now - completed;
      break;
    }
    fixture.pass(kSecond, 1000);
  }
  CHECK(finished >= least);
  CHECK(finished <= (most == core::kNever ? most : most + kSecond));
  CHECK(fixture.take<ContentComplete>().empty());
}

TEST_CASE("two complete peers part with the last State, in a step of its own time") {
  SeedPolicy policy;
  policy.kind = SeedPolicy::Kind::kForever;
  Fixture fixture(plain_manifest(3, 4, 16), seeding(policy));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  download(fixture);
  // A State has just gone out, so that the next one, with what is regained, is not due yet.
  fixture.core.generation_lost(0, {ErrorCode::kCorrupt, "read", ""}, false, fixture.now);
  fixture.drain();
  fixture.core.generation_regained(0, fixture.now);
  fixture.core.content_finished(fixture.now);
  // As a driver does it: one step for each time that the core asks for.
  bool parted = false;
  for (const TimeUs end = fixture.now + kSecond; fixture.now < end && !parted;) {
    for (const core::Action& action : fixture.core.take_actions()) {
      const auto* send = std::get_if<core::Send>(&action);
      parted |= send && std::holds_alternative<proto::Goodbye>(send->message);
    }
    fixture.now = std::min(std::max(fixture.core.next_wake(), fixture.now + 1), end);
    fixture.core.wake(fixture.now);
  }
  CHECK(parted);
}

TEST_CASE("a peer that stays while needed goes when the last needy neighbour is complete") {
  Fixture fixture(plain_manifest(1, 4, 16), seeding({}));
  fixture.start(true);
  // Complete from the start, alone: no peer needs anything.
  CHECK(fixture.take<Finished>().size() == 1);

  Fixture two(plain_manifest(1, 4, 16), seeding({}));
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
  Fixture fixture(plain_manifest(2, 4, 1000), seeding(policy));
  fixture.start(true);
  fixture.join(1, peer_id(1), 1000);
  fixture.join(2, peer_id(2), 1000);
  std::size_t sent = 0;
  for (int i = 0; i < 100 && fixture.take<Finished>().empty(); ++i) {
    sent += fixture.blocks_to(1, 1000).size() + fixture.blocks_to(2, 1000).size();
    fixture.pass(kSecond, 1000);
  }
  CHECK(fixture.core.report().blocks_sent == 16);
  CHECK(sent <= 17);
  CHECK(fixture.core.next_wake() == core::kNever);
}

TEST_CASE("an empty content is complete at once, and its peers part") {
  Manifest manifest = plain_manifest(0, 4, 16);
  REQUIRE(manifest.info.shape.generation_count() == 0);
  Fixture getter(manifest), seed(manifest);
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
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start(true);
  fixture.open(1, peer_id(1));
  CHECK(fixture.heard<proto::State>(1).size() == 1);
  fixture.say_state(1, 0, 4, {}, {{0, 2}});
  CHECK(fixture.heard<proto::Goodbye>(1).front().reason == proto::GoodbyeReason::kNotUseful);
  CHECK(fixture.closed(1));
}

TEST_CASE(
    "a lost generation is neither served nor fetched again, and the peer still goes in time") {
  SeedPolicy policy;
  policy.kind = SeedPolicy::Kind::kDuration;
  policy.duration = 60 * kSecond;
  Fixture fixture(plain_manifest(2, 4, 16), seeding(policy));
  fixture.start(true);
  fixture.join(1, peer_id(1), 1000);
  fixture.core.generation_lost(0, {ErrorCode::kCorrupt, "read a.txt", "changed"}, false,
                               fixture.now);
  fixture.drain();
  CHECK(fixture.noticed("not served any more"));
  CHECK(fixture.core.report().generations_verified == 1);
  fixture.take<core::SendBlock>();
  fixture.join(2, peer_id(2), 1000, true);  // it could give us what we have lost
  fixture.pass(5 * kSecond, 1000);
  for (const core::SendBlock& b : fixture.blocks_to(1)) CHECK(b.block.generation == 1);
  // The files are the user's by now: nothing must be written into them.
  std::uint32_t credit = 0;
  for (const auto& state : fixture.heard<proto::State>(2)) credit = std::max(credit, state.credit);
  for (const auto& state : fixture.heard<proto::State>(1)) credit = std::max(credit, state.credit);
  CHECK(credit == 0);
  CHECK(fixture.take<Finished>().empty());
  CHECK(fixture.pass(60 * kSecond, 1000) < 1000);
  CHECK(fixture.take<Finished>().size() == 1);
}

TEST_CASE("a source tells its neighbours what it cannot serve any more, late comers too") {
  Fixture fixture(plain_manifest(6, 4, 16));
  fixture.start(true);
  fixture.join(1, peer_id(1), 0);
  fixture.heard<proto::State>(1);
  for (const std::uint32_t g : {1, 2, 4})
    fixture.core.generation_lost(g, {ErrorCode::kCorrupt, "read a.txt", "changed"}, false,
                                 fixture.now);
  fixture.drain();
  fixture.pass(kSecond);
  fixture.join(2, peer_id(2), 0);
  const std::vector<proto::Span> lost{{1, 2}, {4, 1}};
  for (const PeerKey peer : {1, 2}) {
    std::vector<proto::Span> withdrawn, unwanted;
    for (const auto& state : fixture.heard<proto::State>(peer)) {
      withdrawn.insert(withdrawn.end(), state.withdrawn.begin(), state.withdrawn.end());
      unwanted.insert(unwanted.end(), state.unwanted.begin(), state.unwanted.end());
    }
    CHECK(withdrawn == lost);
    CHECK(unwanted == lost);
  }
  // One that is right again is complete, and no State takes that back.
  fixture.core.generation_lost(5, {ErrorCode::kIo, "read b.txt", "gone"}, false, fixture.now);
  fixture.core.generation_regained(5, fixture.now);
  fixture.drain();
  fixture.pass(kSecond);
  for (const auto& state : fixture.heard<proto::State>(1)) {
    CHECK(state.withdrawn.empty());
    CHECK(state.unwanted.empty());
  }
}

TEST_CASE("notices of generations lost and regained have topics: there may be very many of them") {
  Fixture fixture(plain_manifest(3, 4, 16), seeding({}));
  core::StartState state;
  state.verified = {true, true, false};
  fixture.core.start(fixture.manifest, state, false, fixture.now);
  fixture.core.generation_lost(0, {ErrorCode::kCorrupt, "read a", "changed"}, false, fixture.now);
  fixture.core.generation_lost(1, {ErrorCode::kCorrupt, "read b", "changed"}, true, fixture.now);
  fixture.core.generation_regained(0, fixture.now);
  fixture.drain();
  const auto notices = fixture.take<core::Notice>();
  CHECK(notices.size() == 3);
  for (const core::Notice& notice : notices) CHECK_FALSE(notice.topic.empty());
}

TEST_CASE("more losses than a State has room for are told in several") {
  constexpr std::uint32_t kLost = 3000;  // every other one: 2 spans each
  Fixture fixture(plain_manifest(2 * kLost, 4, 16));
  fixture.start(true);
  fixture.join(1, peer_id(1), 0);
  fixture.heard<proto::State>(1);
  for (std::uint32_t g = 0; g < kLost; ++g)
    fixture.core.generation_lost(2 * g, {ErrorCode::kCorrupt, "read a", "changed"}, false,
                                 fixture.now);
  fixture.drain();
  fixture.pass(5 * kSecond);
  std::size_t told = 0;
  for (const auto& state : fixture.heard<proto::State>(1)) {
    CHECK(state.complete.size() + state.withdrawn.size() + state.unwanted.size() <=
          limits::kStateSpansMax);
    told += state.withdrawn.size();
  }
  CHECK(told == kLost);
}

TEST_CASE("a peer that stays while needed goes when its neighbours have all that they want") {
  Fixture fixture(plain_manifest(1, 4, 16), seeding({}));
  fixture.start();
  fixture.join(1, peer_id(1), 0, true);
  fixture.join(2, peer_id(2), 0);
  download(fixture);
  fixture.core.content_finished(fixture.now);
  fixture.drain();
  fixture.pass(5 * kSecond);
  CHECK(fixture.take<Finished>().empty());
  proto::State state;
  state.unwanted = {{0, 1}};
  fixture.say(2, state);
  CHECK(fixture.take<Finished>().size() == 1);
}

// A core that has verified generation 0 of two, with one neighbour that holds everything.
void verify_first(Fixture& fixture) {
  core::StartState state;
  state.verified = {true, false};
  fixture.core.start(fixture.manifest, state, false, fixture.now);
  fixture.drain();
  fixture.join(1, peer_id(1), 1000, true);
}

TEST_CASE("a download goes on without a lost generation that is left alone, and completes") {
  Fixture fixture(plain_manifest(2, 4, 16), seeding({}));
  verify_first(fixture);
  fixture.core.generation_lost(0, {ErrorCode::kCorrupt, "read a.txt", "changed"}, false,
                               fixture.now);
  fixture.drain();
  CHECK(fixture.noticed("not served any more"));
  fixture.join(2, peer_id(2), 1000);
  fixture.pass(kSecond);
  for (const PeerKey peer : {1, 2}) {
    std::vector<proto::Span> unwanted;
    for (const auto& message : fixture.heard<proto::State>(peer)) {
      unwanted.insert(unwanted.end(), message.unwanted.begin(), message.unwanted.end());
      for (const auto& entry : message.generations)
        if (entry.generation == 0) CHECK(entry.quota == 0);
    }
    CHECK(unwanted == std::vector<proto::Span>{{0, 1}});
  }
  fixture.say(1, fixture.block(0, 1, 0));
  CHECK(fixture.take<core::StoreRow>().empty());
  for (std::uint32_t i = 0; i < 3; ++i) fixture.say(1, fixture.block(1, 2 + i, i));
  fixture.pass(kSecond);
  fixture.say(1, fixture.block(1, 5, 3));
  CHECK(fixture.take<core::StoreRow>().size() == 4);
  fixture.core.generation_decoded(1, core::DecodeOutcome::kVerified, fixture.now);
  fixture.drain();
  CHECK(fixture.take<core::ContentComplete>().size() == 1);
}

TEST_CASE("a lost generation that is to be fetched again holds completion up") {
  Fixture fixture(plain_manifest(2, 4, 16), seeding({}));
  verify_first(fixture);
  for (std::uint32_t i = 0; i < 4; ++i) fixture.say(1, fixture.block(1, 1 + i, i));
  fixture.core.generation_decoded(1, core::DecodeOutcome::kVerified, fixture.now);
  fixture.drain();
  REQUIRE(fixture.take<core::ContentComplete>().size() == 1);
  fixture.core.generation_lost(0, {ErrorCode::kCorrupt, "read back", "lost"}, true, fixture.now);
  fixture.drain();
  CHECK(fixture.noticed("fetched again"));
  fixture.pass(kSecond);
  for (std::uint32_t i = 0; i < 4; ++i) fixture.say(1, fixture.block(0, 5 + i, i));
  CHECK(fixture.take<core::StoreRow>().size() == 8);
  fixture.core.generation_decoded(0, core::DecodeOutcome::kVerified, fixture.now);
  fixture.drain();
  CHECK(fixture.take<core::ContentComplete>().size() == 1);
}

TEST_CASE("a lost generation that is right again is served again, and told to the neighbours") {
  Fixture fixture(plain_manifest(2, 4, 16));
  fixture.start(true);
  fixture.core.generation_lost(0, {ErrorCode::kIo, "read a.txt", "gone"}, false, fixture.now);
  CHECK(fixture.core.report().generations_lost == 1);
  CHECK(fixture.core.report().first_loss == "read a.txt: gone");
  fixture.join(1, peer_id(1), 1000);
  for (const core::SendBlock& b : fixture.blocks_to(1)) CHECK(b.block.generation == 1);
  fixture.heard<proto::State>(1);
  fixture.core.generation_regained(0, fixture.now);
  fixture.drain();
  CHECK(fixture.core.report().generations_verified == 2);
  CHECK(fixture.core.report().generations_lost == 0);
  fixture.pass(kSecond);
  std::uint32_t told = 0, served = 0;
  const auto look = [&](const proto::State& state) {
    for (const auto& span : state.complete) told += span.first == 0 ? 1 : 0;
  };
  for (const auto& state : fixture.heard<proto::State>(1)) look(state);
  for (const core::SendBlock& b : fixture.blocks_to(1)) {
    served += b.block.generation == 0 ? 1 : 0;
    if (b.block.state) look(*b.block.state);
  }
  CHECK(told == 1);
  CHECK(served > 0);
}

TEST_CASE("a peer that resumes with every row decodes them without its neighbours") {
  Fixture fixture(plain_manifest(2, 4, 16), seeding({}));
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
  fixture.core.start(fixture.manifest, state, false, fixture.now);
  fixture.drain();
  CHECK(fixture.core.report().rank == 8);
  const auto decodes = fixture.take<core::Decode>();
  REQUIRE(decodes.size() == 1);
  REQUIRE(decodes.front().vectors.size() == 4);
  for (std::size_t slot = 0; slot < 4; ++slot)
    CHECK((*decodes.front().vectors[slot])[3 - slot] == 1);
  fixture.core.generation_decoded(1, DecodeOutcome::kVerified, fixture.now);
  fixture.drain();
  CHECK(fixture.take<ContentComplete>().size() == 1);
}

TEST_CASE("a source that leaves when safe does so when a neighbour says that it has everything") {
  core::Options options = plain_options();
  options.seeding.kind = core::SeedPolicy::Kind::kWhenSafe;
  Fixture fixture(plain_manifest(3, 4, 16), options);
  fixture.start(true);
  fixture.pass(60 * kSecond);
  CHECK(fixture.take<core::Finished>().empty());  // no neighbour is there
  fixture.join(1, peer_id(1), 0);
  fixture.pass(5 * kSecond);
  CHECK(fixture.take<core::Finished>().empty());
  // It says so and parts from us in one breath, as one complete peer does from another.
  proto::State state;
  state.complete = {{0, 3}};
  fixture.core.message(1, state, 20, fixture.now);
  fixture.core.message(1, proto::Goodbye{proto::GoodbyeReason::kNotUseful, ""}, 10, fixture.now);
  fixture.drain();
  CHECK(fixture.take<core::Finished>().size() == 1);
}

TEST_CASE("who connects, gets nothing and leaves does not make a source go back") {
  Fixture fixture(plain_manifest(10, 4, 16));
  fixture.start(true);
  fixture.join(1, peer_id(1), 20);
  REQUIRE(fixture.blocks_to(1).size() == 20);
  // Relays that are far behind a source say such things.
  fixture.say_state(1, 20, 20, {{0, 2, 4, {}}, {1, 2, 4, {}}, {2, 2, 4, {}}, {3, 2, 4, {}}});
  bool served_stranger = false;
  SUBCASE("a stranger that gets nothing") {
    fixture.open(2, peer_id(2));
  }
  SUBCASE("one that has got rows, which are lost with it") {
    served_stranger = true;
    fixture.join(2, peer_id(2), 4);
    REQUIRE(fixture.blocks_to(2).size() == 4);
  }
  fixture.pass(10 * kMillisecond);
  fixture.core.peer_closed(2, fixture.now);
  fixture.drain();
  fixture.pass(kSecond);
  fixture.say_state(1, 20, 21, {});  // takes one more
  fixture.pass(kSecond);
  fixture.say_state(1, 21, 22, {});
  std::uint32_t back = 0;
  for (const core::SendBlock& sent : fixture.blocks_to(1))
    back += sent.block.generation < 5 ? 1 : 0;
  CHECK((back > 0) == served_stranger);
}

TEST_CASE("a download shows its certificate once it is complete") {
  core::Options options = plain_options();
  options.certificate = std::string(limits::kCertificateBytes, 'c');
  options.certificate_waits = true;
  Fixture fixture(plain_manifest(1, 4, 16), options);
  fixture.start();
  fixture.join(1, peer_id(1), 4, true);
  CHECK(fixture.heard<proto::Hello>(1).front().certificate.empty());
  for (std::uint32_t row = 0; row < 4; ++row) fixture.say(1, fixture.block(0, row + 1, row));
  fixture.core.generation_decoded(0, core::DecodeOutcome::kVerified, fixture.now);
  fixture.drain();
  fixture.core.content_finished(fixture.now);
  fixture.drain();
  REQUIRE(fixture.core.report().complete);
  fixture.connect(2, peer_id(2));
  CHECK(fixture.heard<proto::Hello>(2).front().certificate == options.certificate);
}
