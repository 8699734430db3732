// Check sums that convicted somebody are compared with the truth, once that is known.
#include "client/core/trust/check_review.h"

#include "tests/core/facts.h"
#include "tests/core/trust/judge_fixture.h"

using namespace firn;
using namespace firn::test;
using core::kNoPeer;

namespace {

// The sums of generation 0 have convicted kFirst; the speaker's rows have completed it since.
class ReviewFixture : public JudgeFixture {
 public:
  ReviewFixture() {
    send(kFirst, 0, 0);
    answer(0);
    REQUIRE(to_judge(0) == Slots{0});
    judged(0, {}, {0});
    REQUIRE(closed(kFirst));
    for (std::uint32_t i = 0; i < kRowsEach; ++i) send(kSpeaker, 0, i);
    CHECK(take<core::MakeCheck>().empty());
    decoded(0, core::DecodeOutcome::kVerified);
    const auto wanted = take<core::MakeCheck>();
    REQUIRE(wanted.size() == 1);
    CHECK(wanted[0].peer == kNoPeer);
    CHECK(wanted[0].generation == 0);
    CHECK(wanted[0].tag_bytes == 4);
    key_.assign(wanted[0].key.begin(), wanted[0].key.end());
  }
  // Its sums are worked out: each byte of them is this, where answer() has said 6.
  void truth(std::uint8_t byte) {
    core.proof_made(kNoPeer, proto::CheckReply{0, key_, Bytes(kRowsEach * 4, byte)}, now);
    drain();
  }
  void no_truth() {
    core.proof_made(kNoPeer, proto::CheckReply{0, {}, {}}, now);
    drain();
  }

 private:
  Bytes key_;
};

core::trust::CheckStatement statement(std::uint8_t maker, std::uint8_t key, std::uint8_t sums) {
  using Secret = codec::SecretVector<std::uint8_t>;
  return {peer_id(maker), Secret(32, key), Secret(16, sums)};
}

std::vector<core::MakeCheck> wanted(core::trust::Verdicts& verdicts) {
  std::vector<core::MakeCheck> found;
  for (const core::trust::Verdict& verdict : std::exchange(verdicts, {}))
    found.push_back(std::get<core::MakeCheck>(std::get<core::Action>(verdict)));
  return found;
}

}  // namespace

TEST_CASE("an authority that told false sums is banned, and whom they convicted is welcome again") {
  ReviewFixture fixture;
  fixture.truth(7);
  CHECK(fixture.closed(kSpeaker));
  CHECK(fixture.noticed("told false check sums of generation 0"));
  CHECK(fixture.noticed("peer " + peer_id(2).text() + " is innocent"));
  CHECK(fixture.banned(8, peer_id(1)));
  CHECK_FALSE(fixture.banned(9, peer_id(2)));
}

TEST_CASE("the driver is told to doubt its rows when an authority is discredited, and not before") {
  ReviewFixture fixture;
  CHECK(fixture.take<core::DoubtRows>().empty());
  SUBCASE("") {
    fixture.truth(7);
    CHECK(fixture.take<core::DoubtRows>().size() == 1);
  }
  SUBCASE("its sums are true") {
    fixture.truth(6);
    CHECK(fixture.take<core::DoubtRows>().empty());
  }
}

TEST_CASE("sums that turn out to be true leave everything as it was") {
  ReviewFixture fixture;
  fixture.truth(6);
  CHECK_FALSE(fixture.closed(kSpeaker));
  CHECK(fixture.banned(8, peer_id(2)));
  fixture.truth(7);  // it has been answered
  CHECK_FALSE(fixture.closed(kSpeaker));
}

TEST_CASE("sums that cannot be worked out accuse nobody") {
  ReviewFixture fixture;
  fixture.no_truth();
  CHECK_FALSE(fixture.closed(kSpeaker));
  CHECK(fixture.banned(8, peer_id(2)));
}

TEST_CASE("a discredited authority is asked for nothing more, and its word proves nothing") {
  ReviewFixture fixture;
  fixture.send(kSecondPeer, 1, 0);
  REQUIRE(fixture.asked() == Slots{0, 1});
  fixture.answer(1, false);
  REQUIRE(fixture.to_judge(1) == Slots{0});
  fixture.truth(7);
  // Nor does what was still being judged by its sums.
  fixture.judged(1, {}, {0});
  CHECK_FALSE(fixture.closed(kSecondPeer));
  CHECK(fixture.core.report().rank == kRowsEach + 1);
  fixture.pass(facts::kBansOver);
  fixture.join_certified(11, peer_id(1), peer_id(1));
  fixture.send(kSecondPeer, 2, 0);
  fixture.pass(kSecond);
  CHECK(fixture.heard<proto::CheckRequest>(11).empty());
  CHECK_FALSE(fixture.closed(11));
}

TEST_CASE("who is convicted by two is not acquitted by the lie of one") {
  core::trust::Verdicts verdicts;
  core::trust::CheckReview review(verdicts);
  review.convicted(peer_id(10), 0, statement(1, 1, 1));
  review.convicted(peer_id(11), 0, statement(1, 1, 1));
  review.convicted(peer_id(12), 2, statement(1, 1, 3));
  review.convicted(peer_id(11), 1, statement(2, 2, 2));
  review.verified(0, 4);
  const auto checks = wanted(verdicts);
  REQUIRE(checks.size() == 1);
  const auto findings = review.made({0, Bytes(32, 1), Bytes(16, 9)});
  REQUIRE(findings.lies.size() == 1);
  CHECK(findings.lies[0].liar == peer_id(1));
  CHECK(findings.lies[0].acquitted == std::vector<PeerId>{peer_id(10), peer_id(12)});
  review.verified(2, 4);  // of the liar nothing is left to be found out
  CHECK(wanted(verdicts).empty());
}

TEST_CASE("who is guilty for other reasons is not acquitted, nor who true sums have convicted") {
  core::trust::Verdicts verdicts;
  core::trust::CheckReview review(verdicts);
  review.guilty(peer_id(10));
  review.convicted(peer_id(11), 1, statement(2, 2, 2));
  CHECK(review.made({1, Bytes(32, 2), Bytes(16, 2)}).lies.empty());
  for (const std::uint8_t id : {10, 11, 12}) review.convicted(peer_id(id), 0, statement(1, 1, 1));
  const auto findings = review.made({0, Bytes(32, 1), Bytes(16, 9)});
  REQUIRE(findings.lies.size() == 1);
  CHECK(findings.lies[0].acquitted == std::vector<PeerId>{peer_id(12)});
}

TEST_CASE("of many statements the oldest gives way") {
  core::trust::Verdicts verdicts;
  core::trust::CheckReview review(verdicts);
  constexpr std::uint32_t kLast = 5000;
  for (std::uint32_t g = 0; g <= kLast; ++g) review.convicted(peer_id(10), g, statement(1, 1, 1));
  review.verified(0, 4);
  CHECK(wanted(verdicts).empty());
  for (const std::uint32_t g : {kLast - 1, kLast}) {
    review.verified(g, 4);
    CHECK(wanted(verdicts).size() == 1);
  }
}
