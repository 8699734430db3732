// What follows from check sums of holders that speak for nobody: for the makers, for the senders of
// rows, and for the rows.
#include "tests/core/facts.h"
#include "tests/core/trust/makers_fixture.h"

using namespace firn;
using namespace firn::test;
using core::DecodeOutcome;

// --- makers ---

TEST_CASE("sums that were stated are worked out once the generation is verified, once for a key") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  for (const PeerKey peer : {kOne, kTwo, kThree}) fixture.answer(peer, 2, kTrue);
  fixture.judged(2, fixture.to_judge(2), {});
  CHECK(fixture.take<core::MakeCheck>().empty());
  const auto keys = fixture.verify(2);
  CHECK(keys == std::vector<Bytes>{fixture.key(2)});
  fixture.review(2, keys);
  CHECK(fixture.core.report().peers == 5);
}

TEST_CASE("a maker that told the truth is asked alone after that, and its answer judges at once") {
  MakersFixture fixture;
  fixture.make_truthful({kTwo}, 2);
  fixture.send(kLess, 3, 0);
  CHECK(fixture.question(3) == std::set<PeerKey>{kTwo});
  fixture.answer(kTwo, 3, kTrue);
  CHECK(fixture.to_judge(3) == Slots{0});
}

TEST_CASE("of several makers that told the truth all are asked, and compared") {
  MakersFixture fixture;
  fixture.make_truthful({kOne, kTwo, kThree}, 2);
  fixture.send(kLess, 3, 0);
  const std::set<PeerKey> makers = fixture.question(3);
  REQUIRE(makers == std::set<PeerKey>{kOne, kTwo, kThree});
  fixture.answer(kOne, 3, kTrue);
  fixture.answer(kTwo, 3, kTrue);
  CHECK(fixture.to_judge(3).empty());
  fixture.answer(kThree, 3, kTrue);
  CHECK(fixture.to_judge(3) == Slots{0});
}

TEST_CASE("one that told the truth and keeps silent then is not the only one that is asked") {
  MakersFixture fixture;
  fixture.make_truthful({kTwo}, 2);
  fixture.send(kLess, 3, 0);
  REQUIRE(fixture.question(3) == std::set<PeerKey>{kTwo});
  fixture.pass(facts::kSumsOverdue);
  CHECK(fixture.question(3) == std::set<PeerKey>{kOne, kTwo, kThree});
}

TEST_CASE("once those that told the truth have left, all others are asked again") {
  MakersFixture fixture;
  fixture.make_truthful({kTwo}, 2);
  fixture.core.peer_closed(kTwo, fixture.now);
  fixture.send(kLess, 3, 0);
  CHECK(fixture.question(3) == std::set<PeerKey>{kOne, kThree});
}

TEST_CASE("of makers that disagreed those that lied are banned, and those that did not are asked") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  fixture.answer(kOne, 2, kFalse);
  fixture.answer(kTwo, 2, kTrue);
  fixture.answer(kThree, 2, kFalse);
  fixture.review(2, fixture.verify(2, kTwo));
  CHECK(fixture.noticed(fixture.id(kOne).text() + " at 192.0.2.1:4000 told false check sums"));
  CHECK(fixture.noticed(fixture.id(kThree).text() + " at 192.0.2.3:4000 told false check sums"));
  CHECK(fixture.core.report().peers == 3);
  fixture.send(kLess, 3, 0);
  CHECK(fixture.question(3) == std::set<PeerKey>{kTwo});
}

TEST_CASE("a liar whose ban is over is not asked again") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  fixture.answer(kOne, 2, kFalse);
  fixture.review(2, fixture.verify(2, kTwo));
  fixture.pass(facts::kBansOver);
  fixture.join(9, fixture.id(kOne), 0, true);
  CHECK_FALSE(fixture.closed(9));
  fixture.send(kLess, 3, 0);
  REQUIRE(fixture.question(3) == std::set<PeerKey>{kTwo, kThree});
  CHECK(fixture.heard<proto::CheckRequest>(9).empty());
}

TEST_CASE("what a liar has said about other generations is not judged by any more") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  fixture.answer(kOne, 2, kFalse);
  for (std::uint32_t i = 0; i < kGenerationSize; ++i) fixture.send_first_hand(kTwo, 2, i);
  fixture.send(kIdle, 3, 0);
  REQUIRE(fixture.question(3) == std::set<PeerKey>{kOne, kTwo, kThree});
  fixture.answer(kOne, 3, kFalse);
  fixture.decoded(2, DecodeOutcome::kVerified);
  REQUIRE(fixture.take<core::MakeCheck>().size() == 1);
  fixture.review(2, {fixture.key(2)});
  REQUIRE(fixture.noticed("told false check sums of generation 2"));
  for (const auto& judged : fixture.take<core::JudgeRows>()) CHECK(judged.generation == 2);
  SUBCASE("nobody else answers") {
    fixture.pass(facts::kSumsOverdue);
    CHECK(fixture.take<core::JudgeRows>().empty());
    CHECK(fixture.question(3) == std::set<PeerKey>{kTwo, kThree});
  }
  SUBCASE("others do") {
    fixture.answer(kTwo, 3, kTrue);
    fixture.answer(kThree, 3, kTrue);
    CHECK(fixture.to_judge(3) == Slots{0});
  }
}

TEST_CASE("sums that cannot be worked out say nothing about their maker") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  fixture.answer(kOne, 2, kFalse);
  REQUIRE(fixture.verify(2).size() == 1);
  fixture.core.proof_made(core::kNoPeer, proto::CheckReply{2, {}, {}}, fixture.now);
  fixture.pass(kMillisecond);
  CHECK(fixture.core.report().peers == 5);
  fixture.send(kLess, 3, 0);
  CHECK(fixture.question(3) == std::set<PeerKey>{kOne, kTwo, kThree});
}

// --- senders of false rows ---

TEST_CASE("by sums of an unknown maker nobody is banned; the sender's rows are not taken a while") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  fixture.judge_by(kOne, 2, kFalse, {}, {0});
  CHECK(fixture.core.report().peers == 5);
  CHECK(fixture.core.report().rank == 0);
  CHECK_FALSE(fixture.send(kLess, 4, 0));
  CHECK(fixture.send(kThree, 4, 0));
  fixture.pass(facts::kSuspensionOver);
  CHECK(fixture.send(kLess, 4, 1));
}

TEST_CASE("an unknown maker's word counts against a neighbour once") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  fixture.judge_by(kOne, 2, kFalse, {}, {0});
  fixture.pass(facts::kSuspensionOver);
  REQUIRE(fixture.send(kLess, 3, 0));
  fixture.judge_by(kTwo, 3, kFalse, {}, {0});
  CHECK(fixture.core.report().rank == 0);
  CHECK(fixture.send(kLess, 4, 0));
}

TEST_CASE("who was mistrusted by the word of a liar is not any more once it is found out") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  fixture.judge_by(kOne, 2, kFalse, {}, {0});
  REQUIRE_FALSE(fixture.send(kLess, 4, 0));
  fixture.review(2, fixture.verify(2, kTwo));
  CHECK(fixture.core.report().peers == 4);
  CHECK(fixture.send(kLess, 4, 1));
}

TEST_CASE("who was mistrusted by true sums, and had answered for the row, is banned then") {
  MakersFixture fixture;
  SUBCASE("it had answered for it") {
    fixture.send(kLess, 2, 0);
    fixture.judge_by(kOne, 2, kTrue, {}, {0});
    CHECK_FALSE(fixture.noticed("false block"));
    fixture.review(2, fixture.verify(2, kTwo));
    CHECK(fixture.noticed(fixture.id(kLess).text() +
                          " at 192.0.2.4:4000 sent a false block of generation 2"));
    CHECK(fixture.closed(kLess));
  }
  SUBCASE("it had not") {
    fixture.send_unproven(kLess, 2, 0);
    fixture.judge_by(kOne, 2, kTrue, {}, {0});
    CHECK(fixture.core.report().rank == 0);
    fixture.review(2, fixture.verify(2, kTwo));
    CHECK_FALSE(fixture.noticed("false block"));
    CHECK(fixture.send_unproven(kLess, 4, 0));
  }
}

TEST_CASE("by the word of a maker that told the truth before nobody is banned unseen") {
  MakersFixture fixture;
  fixture.make_truthful({kTwo}, 2);
  fixture.send(kLess, 3, 0);
  REQUIRE(fixture.question(3) == std::set<PeerKey>{kTwo});
  SUBCASE("but once it is shown that it told the truth again") {
    fixture.answer(kTwo, 3, kTrue);
    fixture.judged(3, fixture.to_judge(3), {});
    CHECK(fixture.core.report().peers == 5);
    fixture.send(kLess, 3, 1);
    REQUIRE(fixture.question(3) == std::set<PeerKey>{kTwo});
    fixture.answer(kTwo, 3, kTrue);
    fixture.to_judge(3);
    fixture.judged(3, {0}, {1});
    CHECK_FALSE(fixture.closed(kLess));
    CHECK_FALSE(fixture.send(kLess, 5, 0));  // it is left alone
    fixture.review(3, fixture.verify(3));
    CHECK(fixture.closed(kLess));
    CHECK_FALSE(fixture.noticed("is innocent"));
  }
  SUBCASE("not where the generation shows that it lied this time") {
    fixture.answer(kTwo, 3, kFalse);
    fixture.judged(3, {}, fixture.to_judge(3, kFalse));
    fixture.review(3, fixture.verify(3));
    CHECK_FALSE(fixture.closed(kLess));
    CHECK(fixture.send(kLess, 5, 0));
    CHECK(fixture.noticed("told false check sums of generation 3"));
    CHECK_FALSE(fixture.noticed("sent a false block"));
    CHECK(fixture.send(kLess, 4, 1));
    CHECK(fixture.question(4) == std::set<PeerKey>{kOne, kThree});
  }
}

// --- what is wanted ---

namespace {

// Whether the last State to this peer says that only trusted rows are wanted.
bool wants_trusted(MakersFixture& fixture, PeerKey peer) {
  const auto states = fixture.heard<proto::State>(peer);
  REQUIRE_FALSE(states.empty());
  CHECK_FALSE(states.back().proven_only);
  return states.back().trusted_only;
}

// A false row of kLess was met, and a holder of everything sends.
void raise_alarm(MakersFixture& fixture) {
  fixture.send_unproven(kLess, 2, 0);
  fixture.judge_by(kOne, 2, kTrue, {}, {0});
  fixture.send_first_hand(kTwo, 3, 0);
  fixture.pass(kSecond);
}

}  // namespace

TEST_CASE("once a false row was met only trusted ones are wanted, while a holder sends") {
  MakersFixture fixture;
  fixture.send_first_hand(kTwo, 3, 1);
  fixture.pass(kSecond);
  CHECK_FALSE(wants_trusted(fixture, kIdle));
  raise_alarm(fixture);
  CHECK(wants_trusted(fixture, kIdle));
  fixture.pass(facts::kStarves + kSecond);
  CHECK_FALSE(wants_trusted(fixture, kIdle));  // nothing comes of it
  fixture.pass(facts::kBelievesAgain);
  fixture.send_first_hand(kTwo, 3, 2);
  fixture.pass(kSecond);
  CHECK(wants_trusted(fixture, kIdle));
}

TEST_CASE("who sends a false row that it does not answer for is mistrusted if it knew the terms") {
  MakersFixture fixture;
  raise_alarm(fixture);
  REQUIRE(fixture.send_unproven(kIdle, 5, 0));
  fixture.judge_by(kOne, 5, kTrue, {}, {0});
  CHECK_FALSE(fixture.send_unproven(kIdle, 6, 0));
  CHECK(fixture.core.report().peers == 5);
}

// --- rows ---

namespace {

// What kIdle is sent of g from now on; it lacks all of it.
std::vector<core::SendBlock> sent_to_idle(MakersFixture& fixture, bool trusted_only,
                                          bool proven_only = false) {
  proto::State state;
  state.credit = 12;
  state.trusted_only = trusted_only;
  state.proven_only = proven_only;
  fixture.say(kIdle, state);
  std::vector<core::SendBlock> all;
  for (int i = 0; i < 20; ++i) {
    for (core::SendBlock& one : fixture.blocks_to(kIdle)) all.push_back(std::move(one));
    fixture.pass(50 * kMillisecond);
  }
  return all;
}

std::set<std::uint32_t> mixed(const std::vector<core::SendBlock>& blocks, std::uint32_t g) {
  std::set<std::uint32_t> slots;
  for (const core::SendBlock& one : blocks) {
    if (one.block.generation == g) slots.insert(one.slots.begin(), one.slots.end());
  }
  return slots;
}

}  // namespace

TEST_CASE("a receiver that wants trusted rows gets no others, and nobody answers for them") {
  MakersFixture fixture;
  fixture.send_first_hand(kOne, 2, 0);
  fixture.send_first_hand(kTwo, 2, 1);
  fixture.send_unproven(kLess, 2, 2);
  SUBCASE("") {
    const auto blocks = sent_to_idle(fixture, true);
    CHECK(mixed(blocks, 2) == std::set<std::uint32_t>{0, 1});
    for (const core::SendBlock& one : blocks) CHECK(one.block.unproven);
  }
  SUBCASE("the others once sums have shown them to be true") {
    fixture.judge_by(kOne, 2, kTrue, {2}, {});
    const auto blocks = sent_to_idle(fixture, true);
    CHECK(mixed(blocks, 2) == std::set<std::uint32_t>{0, 1, 2});
    for (const core::SendBlock& one : blocks) CHECK(one.block.unproven);
  }
  SUBCASE("one that takes all rows gets all") {
    CHECK(mixed(sent_to_idle(fixture, false), 2) == std::set<std::uint32_t>{0, 1, 2});
  }
  SUBCASE("none is proven") {
    CHECK(sent_to_idle(fixture, true, true).empty());
  }
}

TEST_CASE("rows that all were judged by sums of holders are trusted, and answered for by nobody") {
  MakersFixture fixture;
  for (std::uint32_t i = 0; i < 3; ++i) fixture.send(kLess, 2, i);
  REQUIRE_FALSE(fixture.question(2).empty());
  fixture.pass(facts::kSumsOverdue);
  REQUIRE_FALSE(fixture.question(2).empty());
  for (const PeerKey peer : {kOne, kTwo, kThree}) fixture.answer(peer, 2, kTrue);
  CHECK(mixed(sent_to_idle(fixture, true), 2).empty());
  fixture.judged(2, fixture.to_judge(2), {});
  CHECK(fixture.take<core::MarkProven>().empty());
  const auto blocks = sent_to_idle(fixture, true);
  CHECK(mixed(blocks, 2) == std::set<std::uint32_t>{0, 1, 2});
  for (const core::SendBlock& one : blocks) CHECK(one.block.unproven);
}

TEST_CASE("of a sender that is mistrusted no row is trusted any more") {
  MakersFixture fixture;
  for (std::uint32_t i = 0; i < 3; ++i) fixture.send_first_hand(kThree, 3, i);
  fixture.send(kThree, 2, 0);
  fixture.judge_by(kOne, 2, kFalse, {}, {0});
  fixture.asked(3);
  CHECK(mixed(sent_to_idle(fixture, true), 3).empty());
}

TEST_CASE("of a liar that speaks for nobody no row was proven: what is proven stays so") {
  MakersFixture fixture(vouched_manifest(100, kGenerationSize, 8192));
  constexpr PeerKey kSpeaker = 9;
  fixture.join_certified(kSpeaker, peer_id(9), peer_id(9));
  for (std::uint32_t i = 0; i < 3; ++i) fixture.send_first_hand(kSpeaker, 2, i);
  fixture.core.peer_closed(kSpeaker, fixture.now);
  fixture.send(kLess, 3, 0);
  REQUIRE_FALSE(fixture.question(3).empty());
  fixture.answer(kOne, 3, kFalse);
  fixture.review(3, fixture.verify(3, kTwo));
  REQUIRE(fixture.noticed("told false check sums"));
  CHECK(fixture.take<core::DoubtRows>().empty());
  const auto blocks = sent_to_idle(fixture, false, true);
  CHECK(mixed(blocks, 2) == std::set<std::uint32_t>{0, 1, 2});
  for (const core::SendBlock& one : blocks) CHECK_FALSE(one.block.unproven);
}

TEST_CASE("once a maker has lied no row is trusted by sums any more") {
  MakersFixture fixture;
  for (std::uint32_t i = 0; i < 3; ++i) fixture.send_first_hand(kThree, 2, i);
  fixture.send(kLess, 3, 0);
  REQUIRE_FALSE(fixture.question(3).empty());
  fixture.answer(kOne, 3, kFalse);
  fixture.review(3, fixture.verify(3, kTwo));
  REQUIRE(fixture.noticed("told false check sums"));
  CHECK(mixed(sent_to_idle(fixture, true), 2).empty());
}

// --- generations that decoded to false data ---

TEST_CASE("of a generation that decoded to false data only the false rows are lost") {
  MakersFixture fixture;
  for (std::uint32_t i = 0; i < kGenerationSize; ++i)
    fixture.send_first_hand(i % 2 == 0 ? kOne : kTwo, 2, i);
  fixture.decoded(2, DecodeOutcome::kCorrupt);
  REQUIRE(fixture.question(2) == std::set<PeerKey>{kOne, kTwo, kThree});
  for (const PeerKey peer : {kOne, kTwo, kThree}) fixture.answer(peer, 2, kTrue);
  CHECK(fixture.to_judge(2) == Slots{0, 1, 2, 3});
  SUBCASE("") {
    fixture.judged(2, {0, 2, 3}, {1});
    CHECK(fixture.core.report().rank == 3);
    CHECK(fixture.send_first_hand(kOne, 2, 1));
    fixture.decoded(2, DecodeOutcome::kVerified);
    CHECK(fixture.core.report().generations_verified == 1);
  }
  SUBCASE("all if the sums find none") {
    fixture.judged(2, {0, 1, 2, 3}, {});
    CHECK(fixture.core.report().rank == 0);
    CHECK(fixture.noticed("it is fetched again"));
  }
}

TEST_CASE("rows that came after a question about a generation are judged by the next") {
  MakersFixture fixture;
  fixture.send(kLess, 2, 0);
  REQUIRE_FALSE(fixture.question(2).empty());
  for (std::uint32_t i = 1; i < kGenerationSize; ++i) fixture.send_first_hand(kTwo, 2, i);
  fixture.decoded(2, DecodeOutcome::kCorrupt);
  for (const PeerKey peer : {kOne, kTwo, kThree}) fixture.answer(peer, 2, kTrue);
  REQUIRE(fixture.to_judge(2) == Slots{0});
  fixture.judged(2, {0}, {});
  CHECK(fixture.core.report().rank == kGenerationSize);
  REQUIRE_FALSE(fixture.question(2).empty());
  for (const PeerKey peer : {kOne, kTwo, kThree}) fixture.answer(peer, 2, kTrue);
  CHECK(fixture.to_judge(2) == Slots{0, 1, 2, 3});
  fixture.judged(2, {0, 1, 2}, {3});
  CHECK(fixture.core.report().rank == 3);
  CHECK_FALSE(fixture.noticed("it is fetched again"));
}

TEST_CASE("a generation that decoded to false data is fetched again where nobody makes sums") {
  MakersFixture fixture;
  for (std::uint32_t i = 0; i < kGenerationSize; ++i)
    fixture.send_first_hand(i % 2 == 0 ? kOne : kTwo, 2, i);
  fixture.decoded(2, DecodeOutcome::kCorrupt);
  REQUIRE_FALSE(fixture.question(2).empty());
  SUBCASE("they say so") {
    for (const PeerKey peer : {kOne, kTwo, kThree}) fixture.answer(peer, {2, {}, {}});
  }
  SUBCASE("they say nothing") {
    CHECK_FALSE(fixture.noticed("it is fetched again"));
    fixture.pass(facts::kSumsOverdue);
  }
  SUBCASE("they say different things") {
    for (const PeerKey peer : {kOne, kTwo}) fixture.answer(peer, 2, kTrue);
    fixture.answer(kThree, 2, kFalse);
  }
  CHECK(fixture.noticed("it is fetched again"));
  CHECK(fixture.core.report().rank == 0);
  CHECK_FALSE(fixture.noticed("banned for"));
}

TEST_CASE("who sent all of a generation that decoded to false data is banned without any sums") {
  MakersFixture fixture;
  for (std::uint32_t i = 0; i < kGenerationSize; ++i) fixture.send_first_hand(kTwo, 2, i);
  fixture.decoded(2, DecodeOutcome::kCorrupt);
  CHECK(fixture.closed(kTwo));
}
