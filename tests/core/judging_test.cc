// Judging rows by check sums, through the doors of the core.
#include <map>

#include "client/core/policy/constants.h"
#include "proto/base/limits.h"
#include "tests/core/bench.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

namespace {

constexpr PeerKey kSpeaker = 1, kFirst = 2, kSecondPeer = 3;
constexpr std::uint32_t kRowsEach = 4;
using Slots = std::vector<std::uint32_t>;
using Bytes = std::vector<std::uint8_t>;

// A speaker for the authority and two peers that hold everything are its neighbours.
class JudgeBench : public Bench {
 public:
  JudgeBench() : Bench(vouched_manifest(4, kRowsEach, 8192)) {
    start();
    join_certified(kSpeaker, peer_id(1), peer_id(1));
    join(kFirst, peer_id(2), 0, true);
    join(kSecondPeer, peer_id(3), 0, true);
  }
  void send(PeerKey peer, std::uint32_t g, std::uint32_t index) {
    pass(300 * kMillisecond);
    say(peer, block(g, ++sequence_[peer], index));
    pass(kMillisecond);
  }
  // The generations that the speaker was asked for.
  Slots asked() {
    Slots all;
    for (const auto& request : heard<proto::CheckRequest>(kSpeaker)) {
      all.insert(all.end(), request.generations.begin(), request.generations.end());
    }
    return all;
  }
  void answer(std::uint32_t g, bool with_key = true, std::size_t tag_bytes = 4) {
    say(kSpeaker, proto::CheckReply{g, Bytes(with_key ? limits::kCheckKeyBytes : 0, 5),
                                    Bytes(kRowsEach * tag_bytes, 6)});
  }
  // The slots of g that are to be judged; nothing else may be.
  Slots to_judge(std::uint32_t g) {
    Slots all;
    for (const core::JudgeRows& action : take<core::JudgeRows>()) {
      CHECK(action.generation == g);
      CHECK(action.key == Bytes(limits::kCheckKeyBytes, 5));
      CHECK(action.vectors.size() == action.slots.size());
      all.insert(all.end(), action.slots.begin(), action.slots.end());
    }
    return all;
  }
  void judged(std::uint32_t g, const Slots& right, const Slots& wrong, bool readable = true) {
    core.rows_judged(g, right, wrong, readable, now);
    drain();
  }
  void decoded(std::uint32_t g, core::DecodeOutcome outcome) {
    core.generation_decoded(g, outcome, now);
    drain();
  }
  // Whether a peer with this id is turned away for a ban.
  bool banned(PeerKey key, const PeerId& id) {
    connect(key, id);
    bool found = false;
    for (const proto::Goodbye& goodbye : heard<proto::Goodbye>(key)) {
      found |= goodbye.reason == proto::GoodbyeReason::kBanned;
    }
    return found;
  }

 private:
  std::map<PeerKey, std::uint32_t> sequence_;
};

}  // namespace

TEST_CASE("sums of a generation are asked for once, and all rows that come are judged by them") {
  JudgeBench bench;
  bench.send(kSpeaker, 1, 0);
  CHECK(bench.asked().empty());  // its rows need no proof
  bench.send(kFirst, 0, 0);
  bench.send(kFirst, 0, 1);
  CHECK(bench.asked() == Slots{0});
  bench.answer(0);
  CHECK(bench.to_judge(0) == Slots{0, 1});
  bench.send(kSecondPeer, 0, 2);  // during the judgement
  CHECK(bench.to_judge(0).empty());
  bench.judged(0, {0, 1}, {});
  bench.pass(kMillisecond);
  CHECK(bench.to_judge(0) == Slots{2});
  bench.judged(0, {2}, {});
  bench.pass(kSecond);
  CHECK(bench.to_judge(0).empty());
  CHECK(bench.asked().empty());
}

TEST_CASE("a false row bans its sender for ten minutes and nothing else is removed") {
  JudgeBench bench;
  bench.send(kFirst, 0, 0);
  bench.send(kSecondPeer, 0, 1);
  bench.send(kSpeaker, 0, 2);
  bench.answer(0);
  CHECK(bench.to_judge(0) == Slots{0, 1});
  bench.judged(0, {1}, {0});
  const auto dropped = bench.take<core::DropSlots>();
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].slots == Slots{0});
  CHECK(bench.core.report().rank == 2);
  CHECK(bench.noticed(peer_id(2).text()));
  CHECK_FALSE(bench.noticed(peer_id(3).text()));
  CHECK(bench.closed(kFirst));
  bench.pass(policy::kBanTimes[0] + kSecond);
  CHECK(bench.banned(8, peer_id(2)));
  bench.pass(policy::kBanTimes[1]);
  CHECK_FALSE(bench.banned(9, peer_id(2)));
}

TEST_CASE("of a convicted peer all rows go that are not proven, wherever they are") {
  JudgeBench bench;
  bench.send(kFirst, 0, 0);
  bench.answer(0);
  REQUIRE(bench.to_judge(0) == Slots{0});
  bench.judged(0, {0}, {});
  bench.send(kFirst, 1, 0);
  bench.send(kFirst, 2, 0);
  bench.send(kSecondPeer, 2, 1);
  bench.answer(1, false);
  REQUIRE(bench.to_judge(1) == Slots{0});
  bench.judged(1, {}, {0});
  CHECK(bench.core.report().rank == 2);  // the proven one, and the other peer's
}

TEST_CASE("a generation with a false row is decoded once the row has been replaced") {
  JudgeBench bench;
  for (std::uint32_t i = 0; i < kRowsEach; ++i) bench.send(i == 2 ? kFirst : kSecondPeer, 0, i);
  REQUIRE(bench.take<core::Decode>().size() == 1);
  bench.decoded(0, core::DecodeOutcome::kCorrupt);
  CHECK(bench.take<core::KeepEvidence>().empty());
  bench.answer(0);
  CHECK(bench.to_judge(0) == Slots{0, 1, 2, 3});
  bench.judged(0, {0, 1, 3}, {2});
  CHECK(bench.closed(kFirst));
  bench.send(kSpeaker, 0, 2);
  REQUIRE(bench.take<core::Decode>().size() == 1);
  bench.decoded(0, core::DecodeOutcome::kVerified);
  CHECK(bench.core.report().generations_verified == 1);
}

TEST_CASE("a verdict does not touch rows that stand where judged ones have stood") {
  JudgeBench bench;
  bench.send(kFirst, 0, 0);
  bench.send(kFirst, 1, 0);
  bench.answer(0);
  bench.answer(1);
  REQUIRE(bench.take<core::JudgeRows>().size() == 2);
  bench.judged(1, {}, {0});  // the first peer is banned, and its row in generation 0 removed
  REQUIRE(bench.core.report().rank == 0);
  bench.send(kSecondPeer, 0, 1);
  REQUIRE(bench.core.report().rank == 1);
  bench.judged(0, {}, {0});
  CHECK_FALSE(bench.closed(kSecondPeer));
  CHECK(bench.core.report().rank == 1);
  bench.pass(kMillisecond);
  CHECK(bench.to_judge(0) == Slots{0});  // it is judged itself
}

TEST_CASE("a verdict on a generation that was emptied meanwhile does not hold up later rows") {
  JudgeBench bench;
  bench.send(kFirst, 0, 0);
  bench.send(kFirst, 1, 0);
  bench.answer(0);
  bench.answer(1);
  bench.judged(1, {}, {0});
  bench.judged(0, {}, {0});
  bench.take<core::JudgeRows>();
  bench.send(kSecondPeer, 0, 1);
  CHECK(bench.to_judge(0) == Slots{0});
}

TEST_CASE("a key counts although the sums that came with it are late") {
  JudgeBench bench;
  bench.send(kFirst, 0, 0);
  for (std::uint32_t i = 1; i < kRowsEach; ++i) bench.send(kSpeaker, 0, i);
  CHECK(bench.asked() == Slots{0});
  bench.decoded(0, core::DecodeOutcome::kVerified);
  bench.answer(0);
  bench.send(kFirst, 1, 0);
  bench.answer(1, false);
  CHECK_FALSE(bench.closed(kSpeaker));
  CHECK(bench.to_judge(1) == Slots{0});
}

TEST_CASE("sums of a wrong size, without a key, twice, or from no authority are faults") {
  for (const std::size_t tag_bytes : {3u, 17u}) {
    JudgeBench bench;
    bench.send(kFirst, 0, 0);
    bench.answer(0, true, tag_bytes);
    CHECK(bench.closed(kSpeaker));
  }
  JudgeBench uneven;
  uneven.send(kFirst, 0, 0);
  uneven.say(kSpeaker, proto::CheckReply{0, Bytes(limits::kCheckKeyBytes, 5), Bytes(17, 6)});
  CHECK(uneven.closed(kSpeaker));
  JudgeBench keyless;
  keyless.send(kFirst, 0, 0);
  keyless.answer(0, false);
  CHECK(keyless.closed(kSpeaker));
  JudgeBench twice;
  twice.send(kFirst, 0, 0);
  twice.answer(0);
  CHECK_FALSE(twice.closed(kSpeaker));
  twice.answer(0);
  CHECK(twice.closed(kSpeaker));
  JudgeBench stranger;
  stranger.send(kFirst, 0, 0);
  stranger.say(kFirst, proto::CheckReply{0, Bytes(limits::kCheckKeyBytes, 5), Bytes(16, 6)});
  CHECK(stranger.closed(kFirst));
}

TEST_CASE("without an answer a false generation is fetched again as a whole") {
  for (const bool refused : {false, true}) {
    CAPTURE(refused);
    JudgeBench bench;
    for (std::uint32_t i = 0; i < kRowsEach; ++i) bench.send(i == 2 ? kFirst : kSecondPeer, 0, i);
    bench.decoded(0, core::DecodeOutcome::kCorrupt);
    CHECK_FALSE(bench.noticed("fetched again"));
    if (refused) bench.say(kSpeaker, proto::CheckReply{0, {}, {}});
    bench.pass(refused ? kMillisecond : policy::kCheckTimeout);
    CHECK(bench.noticed("fetched again"));
    CHECK(bench.take<core::KeepEvidence>().size() == 1);
    CHECK_FALSE(bench.closed(kFirst));
  }
}

TEST_CASE("where every row is proven and still the data are false, all is fetched again at once") {
  JudgeBench bench;
  for (std::uint32_t i = 0; i < kRowsEach; ++i) bench.send(kSpeaker, 0, i);
  bench.decoded(0, core::DecodeOutcome::kCorrupt);
  CHECK(bench.noticed("fetched again"));
  CHECK(bench.asked().empty());
}

TEST_CASE("rows that cannot be read back to be judged are fetched again") {
  JudgeBench bench;
  for (std::uint32_t i = 0; i < kRowsEach; ++i) bench.send(kFirst, 0, i);
  bench.decoded(0, core::DecodeOutcome::kCorrupt);
  bench.answer(0);
  REQUIRE(bench.to_judge(0).size() == kRowsEach);
  bench.judged(0, {}, {}, false);
  CHECK_FALSE(bench.take<core::DropRows>().empty());
  CHECK(bench.core.report().rank == 0);
}

TEST_CASE("a row left by an earlier run does not convict its sender") {
  Bench bench(vouched_manifest(4, kRowsEach, 8192));
  core::StartState state;
  state.verified.assign(4, false);
  state.rows.push_back({0, 0, {1, 0, 0, 0}, peer_id(2)});
  bench.core.start(bench.manifest, state, false, bench.now);
  bench.join_certified(kSpeaker, peer_id(1), peer_id(1));
  bench.join(kFirst, peer_id(2), 0, true);
  bench.pass(kMillisecond);
  bench.say(kSpeaker, proto::CheckReply{0, Bytes(limits::kCheckKeyBytes, 5), Bytes(16, 6)});
  REQUIRE(bench.take<core::JudgeRows>().size() == 1);
  bench.core.rows_judged(0, {}, {0}, true, bench.now);
  bench.drain();
  CHECK(bench.core.report().rank == 0);
  CHECK_FALSE(bench.closed(kFirst));
}
