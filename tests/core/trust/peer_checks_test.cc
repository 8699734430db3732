// Check sums asked of holders that speak for nobody: questions and answers, through the doors of
// the core.
#include "tests/core/facts.h"
#include "tests/core/trust/makers_fixture.h"

using namespace firn;
using namespace firn::test;

// --- questions ---

TEST_CASE("all neighbours that hold a generation are asked about its rows, under one key") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  CHECK(fixture.question(2) == std::set<PeerKey>{kOne, kTwo, kThree});
  CHECK(fixture.key(2).size() == limits::kCheckKeyBytes);
  fixture.send(kLess, 2, 1);
  CHECK(fixture.asked(2).empty());  // until that question is over
}

TEST_CASE("each question has a key of its own") {
  MakersFixture fixture;
  std::set<Bytes> keys;
  for (std::uint32_t i = 0; i < kGenerationSize - 1; ++i) {
    fixture.send(kLess, 2, i);
    REQUIRE_FALSE(fixture.question(2).empty());
    keys.insert(fixture.key(2));
    for (const PeerKey peer : {kOne, kTwo, kThree}) fixture.answer(peer, 2, kTrue);
    fixture.judged(2, fixture.to_judge(2), {});
  }
  CHECK(keys.size() == kGenerationSize - 1);
}

TEST_CASE("nobody is asked about rows that came at first hand from a holder") {
  MakersFixture fixture;
  for (std::uint32_t i = 0; i < kGenerationSize - 1; ++i) fixture.send_first_hand(kOne, 2, i);
  CHECK(fixture.question(2).empty());
  fixture.send(kLess, 3, 0);
  CHECK_FALSE(fixture.question(3).empty());
}

TEST_CASE("only rows that were there when the key was drawn are judged under it") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  fixture.send(kLess, 2, 1);
  for (const PeerKey peer : {kOne, kTwo, kThree}) fixture.answer(peer, 2, kTrue);
  CHECK(fixture.to_judge(2) == Slots{0});
  fixture.judged(2, {0}, {});
  REQUIRE_FALSE(fixture.question(2).empty());
  for (const PeerKey peer : {kOne, kTwo, kThree}) fixture.answer(peer, 2, kTrue);
  CHECK(fixture.to_judge(2) == Slots{0, 1});  // of what is believed it costs nothing more
}

TEST_CASE("where the authority is near it alone is asked, and others once it has left") {
  MakersFixture fixture(vouched_manifest(100, kGenerationSize, 8192));
  constexpr PeerKey kSpeaker = 9;
  fixture.join_certified(kSpeaker, peer_id(9), peer_id(9));
  fixture.send(kLess, 2, 0);
  fixture.pass(facts::kSampled);
  CHECK(fixture.asked(2).empty());
  for (const proto::CheckRequest& request : fixture.heard<proto::CheckRequest>(kSpeaker))
    CHECK(request.key.empty());
  fixture.core.peer_closed(kSpeaker, fixture.now);
  CHECK(fixture.question(2) == std::set<PeerKey>{kOne, kTwo, kThree});
}

TEST_CASE("beside a silent authority no others are asked, though any block is taken") {
  MakersFixture fixture(vouched_manifest(100, kGenerationSize, 8192));
  fixture.join_certified(9, peer_id(9), peer_id(9));
  fixture.pass(facts::kStarves);
  REQUIRE(fixture.send_unproven(kLess, 2, 0));
  fixture.pass(facts::kSampled);
  CHECK(fixture.asked(2).empty());
}

TEST_CASE("what the authority has proven meanwhile is not judged by others") {
  MakersFixture fixture(vouched_manifest(100, kGenerationSize, 8192));
  fixture.pass(facts::kNoAuthority);
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  constexpr PeerKey kSpeaker = 9;
  fixture.join_certified(kSpeaker, peer_id(9), peer_id(9));
  fixture.pass(kSecond);
  const auto requests = fixture.heard<proto::CheckRequest>(kSpeaker);
  REQUIRE(requests.size() == 1);
  CHECK(requests[0] == proto::CheckRequest{{2}, {}});
  fixture.say(kSpeaker, proto::CheckReply{2, Bytes(limits::kCheckKeyBytes, 7),
                                          Bytes(kGenerationSize * facts::kSumBytes, 6)});
  REQUIRE(fixture.take<core::JudgeRows>().size() == 1);
  fixture.judged(2, {0}, {});
  REQUIRE(fixture.take<core::MarkProven>().size() == 1);
  for (const PeerKey peer : {kOne, kTwo, kThree}) fixture.answer(peer, 2, kFalse);
  CHECK(fixture.take<core::JudgeRows>().empty());
}

TEST_CASE("in a large mesh holders are not asked") {
  MakersFixture fixture;
  for (std::uint32_t i = 0; i < facts::kLargeMesh; ++i)
    fixture.join(100 + i, numbered(300 + i), 0, true);
  fixture.send(kLess, 2, 0);
  CHECK(fixture.question(2).empty());
}

// --- answers ---

TEST_CASE("what all say that were asked is taken for true") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  fixture.answer(kOne, 2, kTrue);
  fixture.answer(kTwo, 2, kTrue);
  CHECK(fixture.to_judge(2).empty());  // one may say something else
  fixture.answer(kThree, 2, kTrue);
  CHECK(fixture.to_judge(2) == Slots{0});
}

TEST_CASE("where they disagree none is believed, and the generation is fetched block by block") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  fixture.answer(kOne, 2, kTrue);
  fixture.answer(kTwo, 2, kFalse);
  fixture.answer(kThree, 2, kTrue);
  CHECK(fixture.take<core::JudgeRows>().empty());
  std::size_t asked_for_leaves = 0;
  for (PeerKey peer = kOne; peer <= kThree; ++peer) {
    for (const proto::LeafRequest& request : fixture.heard<proto::LeafRequest>(peer)) {
      CHECK(request.generations == Slots{2});
      ++asked_for_leaves;
    }
  }
  CHECK(asked_for_leaves == 1);
  CHECK(fixture.core.report().peers == 5);  // nobody knows yet who lies
}

TEST_CASE("a maker that keeps silent, or says that it makes none, is not waited for in the end") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  fixture.answer(kOne, 2, kTrue);
  fixture.answer(kTwo, {2, {}, {}});
  CHECK(fixture.to_judge(2).empty());
  SUBCASE("silent") {
    fixture.pass(facts::kSumsOverdue);
    CHECK(fixture.to_judge(2) == Slots{0});
    fixture.answer(kThree, 2, kFalse);  // too late, which is no fault
    CHECK(fixture.take<core::JudgeRows>().empty());
    fixture.judged(2, {0}, {});
  }
  SUBCASE("it makes none") {
    fixture.answer(kThree, {2, {}, {}});
    CHECK(fixture.to_judge(2) == Slots{0});
  }
  SUBCASE("it leaves") {
    fixture.core.peer_closed(kThree, fixture.now);
    fixture.drain();
    fixture.pass(kMillisecond);
    CHECK(fixture.to_judge(2) == Slots{0});
  }
  CHECK(fixture.core.report().rank == 1);
}

TEST_CASE("where nobody answers no row is judged, and the question is put again") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  const Bytes key = fixture.key(2);
  fixture.pass(facts::kSumsOverdue);
  CHECK(fixture.question(2) == std::set<PeerKey>{kOne, kTwo, kThree});
  CHECK(fixture.key(2) != key);
  // Sums under the key of the first one are late.
  fixture.answer(kOne, {2, key, Bytes(kGenerationSize * facts::kSumBytes, kTrue)});
  fixture.answer(kTwo, {2, key, Bytes(kGenerationSize * facts::kSumBytes, kTrue)});
  fixture.answer(kThree, {2, key, Bytes(kGenerationSize * facts::kSumBytes, kTrue)});
  CHECK(fixture.take<core::JudgeRows>().empty());
  for (const PeerKey peer : {kOne, kTwo, kThree}) fixture.answer(peer, 2, kTrue);
  CHECK(fixture.to_judge(2) == Slots{0});
}

TEST_CASE("a second answer of the same maker counts for nothing") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  fixture.answer(kOne, 2, kTrue);
  fixture.answer(kOne, 2, kFalse);
  fixture.answer(kTwo, 2, kTrue);
  fixture.answer(kThree, 2, kTrue);
  CHECK(fixture.to_judge(2) == Slots{0});
}

TEST_CASE("sums of another size are a fault, and so are those of a peer that was never asked") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  SUBCASE("too few") {
    fixture.answer(kOne, {2, fixture.key(2), Bytes(kGenerationSize * facts::kSumBytes - 1, kTrue)});
    CHECK(fixture.closed(kOne));
  }
  SUBCASE("never asked") {
    fixture.answer(kIdle, 2, kTrue);
    CHECK(fixture.closed(kIdle));
  }
  SUBCASE("a generation that does not exist, of one that was asked") {
    fixture.answer(kOne, {100, fixture.key(2), Bytes(kGenerationSize * facts::kSumBytes, kTrue)});
    CHECK_FALSE(fixture.closed(kOne));
  }
  CHECK(fixture.take<core::JudgeRows>().empty());
}
