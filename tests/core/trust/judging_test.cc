// Judging rows by check sums, through the doors of the core.
#include "tests/core/facts.h"
#include "tests/core/trust/judge_fixture.h"

using namespace firn;
using namespace firn::test;

TEST_CASE("sums of a generation are asked for once, and all rows that come are judged by them") {
  JudgeFixture fixture;
  fixture.send(kSpeaker, 1, 0);
  CHECK(fixture.asked().empty());  // its rows need no proof
  fixture.send(kFirst, 0, 0);
  fixture.send(kFirst, 0, 1);
  CHECK(fixture.asked() == Slots{0});
  fixture.answer(0);
  CHECK(fixture.to_judge(0) == Slots{0, 1});
  fixture.send(kSecondPeer, 0, 2);  // during the judgement
  CHECK(fixture.to_judge(0).empty());
  fixture.judged(0, {0, 1}, {});
  fixture.pass(kMillisecond);
  CHECK(fixture.to_judge(0) == Slots{2});
  fixture.judged(0, {2}, {});
  fixture.pass(kSecond);
  CHECK(fixture.to_judge(0).empty());
  CHECK(fixture.asked().empty());
}

TEST_CASE("a false row bans its sender for longer than a fault, and nothing else is removed") {
  JudgeFixture fixture;
  fixture.send(kFirst, 0, 0);
  fixture.send(kSecondPeer, 0, 1);
  fixture.send(kSpeaker, 0, 2);
  fixture.answer(0);
  CHECK(fixture.to_judge(0) == Slots{0, 1});
  fixture.judged(0, {1}, {0});
  const auto dropped = fixture.take<core::DropSlots>();
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].slots == Slots{0});
  CHECK(fixture.core.report().rank == 2);
  CHECK(fixture.core.report().blocks_refused == 1);
  CHECK(fixture.noticed(peer_id(2).text()));
  CHECK_FALSE(fixture.noticed(peer_id(3).text()));
  CHECK(fixture.closed(kFirst));
  fixture.pass(facts::kFirstBanOver + kSecond);
  CHECK(fixture.banned(8, peer_id(2)));
  fixture.pass(facts::kBansOver);
  CHECK_FALSE(fixture.banned(9, peer_id(2)));
}

TEST_CASE("of a convicted peer all rows go that are not proven, wherever they are") {
  JudgeFixture fixture;
  fixture.send(kFirst, 0, 0);
  fixture.answer(0);
  REQUIRE(fixture.to_judge(0) == Slots{0});
  fixture.judged(0, {0}, {});
  fixture.send(kFirst, 1, 0);
  fixture.send(kFirst, 2, 0);
  fixture.send(kSecondPeer, 2, 1);
  fixture.answer(1, false);
  REQUIRE(fixture.to_judge(1) == Slots{0});
  fixture.judged(1, {}, {0});
  CHECK(fixture.core.report().rank == 2);  // the proven one, and the other peer's
  CHECK(fixture.core.report().blocks_refused == 2);
}

TEST_CASE("a generation with a false row is decoded once the row has been replaced") {
  JudgeFixture fixture;
  for (std::uint32_t i = 0; i < kRowsEach; ++i) fixture.send(i == 2 ? kFirst : kSecondPeer, 0, i);
  REQUIRE(fixture.take<core::Decode>().size() == 1);
  fixture.decoded(0, core::DecodeOutcome::kCorrupt);
  CHECK_FALSE(fixture.noticed("fetched again"));
  fixture.answer(0);
  CHECK(fixture.to_judge(0) == Slots{0, 1, 2, 3});
  fixture.judged(0, {0, 1, 3}, {2});
  CHECK(fixture.closed(kFirst));
  fixture.send(kSpeaker, 0, 2);
  REQUIRE(fixture.take<core::Decode>().size() == 1);
  fixture.decoded(0, core::DecodeOutcome::kVerified);
  CHECK(fixture.core.report().generations_verified == 1);
}

TEST_CASE("a verdict does not touch rows that stand where judged ones have stood") {
  JudgeFixture fixture;
  fixture.send(kFirst, 0, 0);
  fixture.send(kFirst, 1, 0);
  fixture.answer(0);
  fixture.answer(1);
  REQUIRE(fixture.take<core::JudgeRows>().size() == 2);
  fixture.judged(1, {}, {0});  // the first peer is banned, and its row in generation 0 removed
  REQUIRE(fixture.core.report().rank == 0);
  fixture.send(kSecondPeer, 0, 1);
  REQUIRE(fixture.core.report().rank == 1);
  fixture.judged(0, {}, {0});
  CHECK_FALSE(fixture.closed(kSecondPeer));
  CHECK(fixture.core.report().rank == 1);
  fixture.pass(kMillisecond);
  CHECK(fixture.to_judge(0) == Slots{0});  // it is judged itself
}

TEST_CASE("a verdict on a generation that was emptied meanwhile does not hold up later rows") {
  JudgeFixture fixture;
  fixture.send(kFirst, 0, 0);
  fixture.send(kFirst, 1, 0);
  fixture.answer(0);
  fixture.answer(1);
  fixture.judged(1, {}, {0});
  fixture.judged(0, {}, {0});
  fixture.take<core::JudgeRows>();
  fixture.send(kSecondPeer, 0, 1);
  CHECK(fixture.to_judge(0) == Slots{0});
}

TEST_CASE("a key counts although the sums that came with it are late") {
  JudgeFixture fixture;
  fixture.send(kFirst, 0, 0);
  for (std::uint32_t i = 1; i < kRowsEach; ++i) fixture.send(kSpeaker, 0, i);
  CHECK(fixture.asked() == Slots{0});
  fixture.decoded(0, core::DecodeOutcome::kVerified);
  fixture.answer(0);
  fixture.send(kFirst, 1, 0);
  fixture.answer(1, false);
  CHECK_FALSE(fixture.closed(kSpeaker));
  CHECK(fixture.to_judge(1) == Slots{0});
}

TEST_CASE("sums of a wrong size, without a key, or from no authority are faults") {
  for (const std::size_t tag_bytes : {3u, 17u}) {
    JudgeFixture fixture;
    fixture.send(kFirst, 0, 0);
    fixture.answer(0, true, tag_bytes);
    CHECK(fixture.closed(kSpeaker));
  }
  JudgeFixture uneven;
  uneven.send(kFirst, 0, 0);
  uneven.say(kSpeaker, proto::CheckReply{0, Bytes(limits::kCheckKeyBytes, 5), Bytes(17, 6)});
  CHECK(uneven.closed(kSpeaker));
  JudgeFixture keyless;
  keyless.send(kFirst, 0, 0);
  keyless.answer(0, false);
  CHECK(keyless.closed(kSpeaker));
  JudgeFixture stranger;
  stranger.send(kFirst, 0, 0);
  stranger.say(kFirst, proto::CheckReply{0, Bytes(limits::kCheckKeyBytes, 5), Bytes(16, 6)});
  CHECK(stranger.closed(kFirst));
}

TEST_CASE("sums of a generation that only another content has judge nothing") {
  JudgeFixture fixture;
  fixture.send(kFirst, 0, 0);
  fixture.answer(4);
  CHECK(fixture.take<core::JudgeRows>().empty());
  CHECK(fixture.core.report().rank == 1);
  fixture.answer(0);
  CHECK(fixture.to_judge(0) == Slots{0});
  CHECK_FALSE(fixture.noticed("banned for"));
}

TEST_CASE("sums that come again and again judge once, and are no fault") {
  JudgeFixture fixture;
  fixture.send(kFirst, 0, 0);
  REQUIRE(fixture.asked() == Slots{0});
  fixture.answer(0);
  CHECK(fixture.to_judge(0) == Slots{0});
  fixture.judged(0, {0}, {});
  for (int i = 0; i < 1000; ++i) fixture.answer(0);
  fixture.pass(kSecond);
  CHECK(fixture.to_judge(0).empty());
  CHECK(fixture.asked().empty());
  CHECK_FALSE(fixture.closed(kSpeaker));
}

TEST_CASE("without an answer a false generation is fetched again as a whole") {
  for (const bool refused : {false, true}) {
    CAPTURE(refused);
    JudgeFixture fixture;
    for (std::uint32_t i = 0; i < kRowsEach; ++i) fixture.send(i == 2 ? kFirst : kSecondPeer, 0, i);
    fixture.decoded(0, core::DecodeOutcome::kCorrupt);
    CHECK_FALSE(fixture.noticed("fetched again"));
    if (refused) fixture.say(kSpeaker, proto::CheckReply{0, {}, {}});
    fixture.pass(refused ? kMillisecond : facts::kSumsOverdue);
    CHECK(fixture.noticed("fetched again"));
    CHECK_FALSE(fixture.closed(kFirst));
  }
}

TEST_CASE("where every row is proven and still the data are false, all is fetched again at once") {
  JudgeFixture fixture;
  for (std::uint32_t i = 0; i < kRowsEach; ++i) fixture.send(kSpeaker, 0, i);
  fixture.decoded(0, core::DecodeOutcome::kCorrupt);
  CHECK(fixture.noticed("fetched again"));
  CHECK(fixture.asked().empty());
}

TEST_CASE("rows that cannot be read back to be judged are fetched again") {
  JudgeFixture fixture;
  for (std::uint32_t i = 0; i < kRowsEach; ++i) fixture.send(kFirst, 0, i);
  fixture.decoded(0, core::DecodeOutcome::kCorrupt);
  fixture.answer(0);
  REQUIRE(fixture.to_judge(0).size() == kRowsEach);
  fixture.judged(0, {}, {}, false);
  CHECK_FALSE(fixture.take<core::DropRows>().empty());
  CHECK(fixture.core.report().rank == 0);
}

TEST_CASE("a row left by an earlier run does not convict its sender") {
  Fixture fixture(vouched_manifest(4, kRowsEach, 8192));
  core::StartState state;
  state.verified.assign(4, false);
  state.rows.push_back({0, 0, {1, 0, 0, 0}, peer_id(2)});
  fixture.core.start(fixture.manifest, state, false, fixture.now);
  fixture.join_certified(kSpeaker, peer_id(1), peer_id(1));
  fixture.join(kFirst, peer_id(2), 0, true);
  fixture.pass(kMillisecond);
  fixture.say(kSpeaker, proto::CheckReply{0, Bytes(limits::kCheckKeyBytes, 5), Bytes(16, 6)});
  REQUIRE(fixture.take<core::JudgeRows>().size() == 1);
  fixture.core.rows_judged(0, {}, {0}, true, fixture.now);
  fixture.drain();
  CHECK(fixture.core.report().rank == 0);
  CHECK_FALSE(fixture.closed(kFirst));
}

TEST_CASE("an authority on a slow path whose answers come after the second request is no liar") {
  JudgeFixture fixture;
  fixture.send(kFirst, 0, 0);
  REQUIRE(fixture.asked() == Slots{0});
  const TimeUs overdue = fixture.now + facts::kSumsOverdue;
  for (std::uint32_t i = 0; fixture.now < overdue; ++i) {  // it does not starve meanwhile
    fixture.send(kSpeaker, 1 + i / kRowsEach, i % kRowsEach);
    fixture.pass(std::min(kSecond, overdue - fixture.now));
  }
  fixture.send(kFirst, 0, 1);
  REQUIRE(fixture.asked() == Slots{0});
  fixture.answer(0);
  CHECK(fixture.to_judge(0) == Slots{0, 1});
  fixture.answer(0, false);
  CHECK_FALSE(fixture.closed(kSpeaker));
  CHECK(fixture.to_judge(0).empty());
}

TEST_CASE(
    "of several speakers the first that holds the generation is asked, at no look at others") {
  Fixture fixture(vouched_manifest(4, kRowsEach, 8192));
  fixture.start();
  fixture.join_certified(8, peer_id(8), peer_id(8));
  fixture.join_certified(kSpeaker, peer_id(1), peer_id(1));
  fixture.join(kFirst, peer_id(2), 0, true);
  fixture.pass(300 * kMillisecond);
  fixture.say(kFirst, fixture.block(0, 1, 0));
  fixture.pass(kMillisecond);
  CHECK(fixture.heard<proto::CheckRequest>(kSpeaker).size() == 1);
  CHECK(fixture.heard<proto::CheckRequest>(8).empty());
  // A step in which nothing is due.
  const std::uint64_t walks = fixture.core.counters().walks;
  fixture.core.wake(fixture.now);
  fixture.drain();
  CHECK(fixture.core.counters().walks == walks);
  fixture.core.peer_closed(kSpeaker, fixture.now);
  fixture.say(kFirst, fixture.block(1, 2, 0));
  fixture.pass(kMillisecond);
  CHECK(fixture.heard<proto::CheckRequest>(8).size() == 1);
}
