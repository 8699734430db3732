// Large meshes under alarm: what peers take, and what they do with false rows.
#include "tests/core/epoch_bench.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

namespace {

using Slots = std::vector<std::uint32_t>;

constexpr PeerKey kFrom = 1, kFirst = 2, kLast = 4;

// It knows the authority's clock, and hears Epochs from kFrom.
struct AlarmBench : EpochBench {
  AlarmBench() {
    begin();
    for (PeerKey peer = kFrom; peer <= kLast; ++peer) {
      join(peer, numbered(static_cast<std::uint32_t>(peer)), 0, true);
    }
    pass(300 * kMillisecond);
    say(kFrom, epoch(1));
    const auto requests = heard<proto::EpochRequest>(kFrom);
    REQUIRE(requests.size() == 1);
    proto::Epoch next = unsigned_epoch(2);
    next.heard = {{*requests[0].nonce, 0}};
    say(kFrom, said(next));
  }
  void tell(bool alarm) { say(kFrom, epoch(++number_, alarm)); }
  bool strict() {
    pass(kSecond);
    const auto states = heard<proto::State>(kLast);
    if (!states.empty()) strict_ = states.back().proven_only;
    return strict_;
  }
  bool takes_unproven(std::uint32_t index) {
    const std::uint64_t before = core.report().rank;
    proto::Block one = block(3, ++sequence_, index);
    one.unproven = true;
    say(kLast, std::move(one));
    return core.report().rank > before;
  }

 private:
  std::uint64_t number_ = 2;
  std::uint32_t sequence_ = 0;
  bool strict_ = false;
};

}  // namespace

TEST_CASE("a large mesh wants answers for blocks while the alarm lasts") {
  AlarmBench bench;
  CHECK_FALSE(bench.strict());
  CHECK(bench.takes_unproven(0));
  bench.tell(true);
  CHECK(bench.strict());
  CHECK_FALSE(bench.takes_unproven(1));
  CHECK_FALSE(bench.closed(kLast));
  bench.tell(false);
  CHECK_FALSE(bench.strict());
  CHECK(bench.takes_unproven(1));
}

TEST_CASE("an alarm ends where the authority is not heard any more") {
  AlarmBench bench;
  bench.tell(true);
  CHECK(bench.strict());
  bench.pass(policy::kAlarmSilence);
  CHECK_FALSE(bench.strict());
}

TEST_CASE("a peer that starves under alarm takes any block for a while") {
  AlarmBench bench;
  bool opened = false, closed_again = false;
  bench.tell(true);
  for (TimeUs passed = 0; passed < 3 * policy::kStarvingTime; passed += kSecond) {
    const bool strict = bench.strict();
    opened |= !strict;
    closed_again |= opened && strict;
    bench.tell(true);
  }
  CHECK(opened);
  CHECK(closed_again);
}

TEST_CASE("of a generation that decoded falsely an epoch finds the false rows one by one") {
  AlarmBench bench;
  for (std::uint32_t i = 0; i < EpochBench::kBlocks; ++i) {
    proto::Block one = bench.block(0, i / 2 + 1, i);
    one.unproven = i % 2 == 1;
    bench.say(i % 2 == 0 ? kFirst : kLast, std::move(one));
  }
  REQUIRE(bench.take<core::Decode>().size() == 1);
  bench.core.generation_decoded(0, core::DecodeOutcome::kCorrupt, bench.now);
  bench.drain();
  CHECK(bench.take<core::DropRows>().empty());
  bench.pass(kSecond);
  bench.tell(true);
  const auto judged = bench.take<core::JudgeRows>();
  REQUIRE(judged.size() == 1);
  CHECK(judged[0].slots == Slots{0, 1, 2, 3});
  CHECK(judged[0].key == bench.epoch(3).key);
  bench.core.rows_judged(0, {0, 2}, {1, 3}, true, bench.now);
  bench.drain();
  const auto dropped = bench.take<core::DropSlots>();
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].slots == Slots{1, 3});
  CHECK_FALSE(bench.closed(kLast));  // it had not answered for them
}

TEST_CASE("a false row that its sender answered for convicts it") {
  AlarmBench bench;
  bench.say(kFirst, bench.block(0, 1, 0));
  bench.say(kLast, bench.block(0, 1, 1));
  bench.pass(kSecond);
  bench.tell(true);
  REQUIRE(bench.take<core::JudgeRows>().size() == 1);
  bench.core.rows_judged(0, {1}, {0}, true, bench.now);
  bench.drain();
  CHECK(bench.closed(kFirst));
  CHECK(bench.core.report().rank == 1);
}

TEST_CASE("a false generation that no epoch judges is fetched again") {
  AlarmBench bench;
  for (std::uint32_t i = 0; i < EpochBench::kBlocks; ++i) {
    bench.say(i % 2 == 0 ? kFirst : kLast, bench.block(0, i / 2 + 1, i));
  }
  bench.core.generation_decoded(0, core::DecodeOutcome::kCorrupt, bench.now);
  bench.drain();
  bench.pass(policy::kEpochPatience + kSecond);
  CHECK(bench.take<core::KeepEvidence>().size() == 1);
  CHECK(bench.core.report().rank == 0);
}
