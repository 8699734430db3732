// Large meshes under alarm: what peers take, and what they do with false rows.
#include "client/core/parts.h"
#include "tests/core/epoch_fixture.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

namespace {

using Slots = std::vector<std::uint32_t>;

constexpr PeerKey kTeller = 1, kFirstWarned = 2, kLastWarned = 4;

// It knows the authority's clock, and hears Epochs from kTeller.
struct AlarmFixture : EpochFixture {
  AlarmFixture() {
    begin();
    for (PeerKey peer = kTeller; peer <= kLastWarned; ++peer) {
      join(peer, numbered(static_cast<std::uint32_t>(peer)), 0, true);
    }
    pass(300 * kMillisecond);
    say(kTeller, epoch(1));
    const auto requests = heard<proto::EpochRequest>(kTeller);
    REQUIRE(requests.size() == 1);
    proto::Epoch next = unsigned_epoch(2);
    next.heard = {{*requests[0].nonce, 0}};
    say(kTeller, said(next));
  }
  void tell(bool alarm) { say(kTeller, epoch(++number_, alarm)); }
  bool strict() {
    pass(kSecond);
    const auto states = heard<proto::State>(kLastWarned);
    if (!states.empty()) strict_ = states.back().proven_only;
    return strict_;
  }
  bool takes_unproven(std::uint32_t index) {
    const std::uint64_t before = core.report().rank;
    proto::Block one = block(3, ++sequence_, index);
    one.unproven = true;
    say(kLastWarned, std::move(one));
    return core.report().rank > before;
  }

 private:
  std::uint64_t number_ = 2;
  std::uint32_t sequence_ = 0;
  bool strict_ = false;
};

}  // namespace

TEST_CASE("a large mesh wants answers for blocks while the alarm lasts") {
  AlarmFixture fixture;
  CHECK_FALSE(fixture.strict());
  CHECK(fixture.takes_unproven(0));
  fixture.tell(true);
  CHECK(fixture.strict());
  CHECK_FALSE(fixture.takes_unproven(1));
  CHECK_FALSE(fixture.closed(kLastWarned));
  fixture.tell(false);
  CHECK_FALSE(fixture.strict());
  CHECK(fixture.takes_unproven(1));
}

TEST_CASE("an alarm ends where the authority is not heard any more") {
  AlarmFixture fixture;
  fixture.tell(true);
  CHECK(fixture.strict());
  fixture.pass(policy::kAlarmSilence);
  CHECK_FALSE(fixture.strict());
}

TEST_CASE("a peer that starves under alarm takes any block for a while") {
  AlarmFixture fixture;
  bool opened = false, closed_again = false;
  fixture.tell(true);
  for (TimeUs passed = 0; passed < 3 * policy::kStarvingTime; passed += kSecond) {
    const bool strict = fixture.strict();
    opened |= !strict;
    closed_again |= opened && strict;
    fixture.tell(true);
  }
  CHECK(opened);
  CHECK(closed_again);
}

TEST_CASE("of a generation that decoded falsely an epoch finds the false rows one by one") {
  AlarmFixture fixture;
  for (std::uint32_t i = 0; i < EpochFixture::kBlocks; ++i) {
    proto::Block one = fixture.block(0, i / 2 + 1, i);
    one.unproven = i % 2 == 1;
    fixture.say(i % 2 == 0 ? kFirstWarned : kLastWarned, std::move(one));
  }
  REQUIRE(fixture.take<core::Decode>().size() == 1);
  fixture.core.generation_decoded(0, core::DecodeOutcome::kCorrupt, fixture.now);
  fixture.drain();
  CHECK(fixture.take<core::DropRows>().empty());
  fixture.pass(kSecond);
  fixture.tell(true);
  const auto judged = fixture.take<core::JudgeRows>();
  REQUIRE(judged.size() == 1);
  CHECK(judged[0].slots == Slots{0, 1, 2, 3});
  CHECK(std::ranges::equal(judged[0].key, fixture.epoch(3).key));
  fixture.core.rows_judged(0, {0, 2}, {1, 3}, true, fixture.now);
  fixture.drain();
  const auto dropped = fixture.take<core::DropSlots>();
  REQUIRE(dropped.size() == 1);
  CHECK(dropped[0].slots == Slots{1, 3});
  CHECK_FALSE(fixture.closed(kLastWarned));  // it had not answered for them
}

TEST_CASE("rows of a generation that is being decoded are not judged by an epoch") {
  AlarmFixture fixture;
  for (std::uint32_t i = 0; i < EpochFixture::kBlocks; ++i) {
    fixture.say(i % 2 == 0 ? kFirstWarned : kLastWarned, fixture.block(0, i / 2 + 1, i));
  }
  REQUIRE(fixture.take<core::Decode>().size() == 1);
  fixture.pass(kSecond);
  fixture.tell(true);
  CHECK(fixture.take<core::JudgeRows>().empty());
  fixture.core.generation_decoded(0, core::DecodeOutcome::kCorrupt, fixture.now);
  fixture.drain();
  CHECK(fixture.take<core::JudgeRows>().size() == 1);
}

TEST_CASE("a false row that its sender answered for convicts it") {
  AlarmFixture fixture;
  fixture.say(kFirstWarned, fixture.block(0, 1, 0));
  fixture.say(kLastWarned, fixture.block(0, 1, 1));
  fixture.pass(kSecond);
  fixture.tell(true);
  REQUIRE(fixture.take<core::JudgeRows>().size() == 1);
  fixture.core.rows_judged(0, {1}, {0}, true, fixture.now);
  fixture.drain();
  CHECK(fixture.closed(kFirstWarned));
  CHECK(fixture.core.report().rank == 1);
}

TEST_CASE("a false generation that no epoch judges is fetched again") {
  AlarmFixture fixture;
  for (std::uint32_t i = 0; i < EpochFixture::kBlocks; ++i) {
    fixture.say(i % 2 == 0 ? kFirstWarned : kLastWarned, fixture.block(0, i / 2 + 1, i));
  }
  fixture.core.generation_decoded(0, core::DecodeOutcome::kCorrupt, fixture.now);
  fixture.drain();
  fixture.pass(policy::kEpochPatience + kSecond);
  CHECK(fixture.noticed("fetched again"));
  CHECK(fixture.core.report().rank == 0);
}

TEST_CASE("neighbours are on trial where those that were convicted are a part of many") {
  core::Parts parts(vouched_manifest(4, 4, 64).id, large_mesh_options(), kSecond);
  for (std::uint8_t i = 1; i <= policy::kSmallMesh + 1; ++i) {
    REQUIRE(parts.membership.opened(i, peer_id(i), "192.0.2.1", 4000, 0, true));
  }
  parts.start(vouched_manifest(4, 4, 64).info);
  core::Trust& trust = parts.transfer->trust;
  const auto convict = [&](std::uint32_t up_to) {
    for (std::uint32_t i = 1; i <= up_to; ++i) trust.convict(numbered(1000 + i));
  };
  const auto tell_of = [&](std::uint32_t peers) {
    proto::AnnounceReply reply;
    reply.interval_seconds = 1800;
    reply.incomplete_count = peers;
    parts.trackers.replied(0, reply);
  };
  tell_of(1000);
  convict(2 * policy::kSomeConvictions);
  trust.step();
  CHECK(trust.trial_from() == core::kNever);  // there is no alarm
  CHECK(trust.alarmed_since() == core::kNever);
  proto::Epoch epoch;
  epoch.alarm = true;
  parts.transfer->epochs.speak(std::move(epoch));
  trust.step();
  CHECK(trust.trial_from() == kSecond);  // 8 of 33 make 242 of 1,000
  CHECK(trust.alarmed_since() == kSecond);
  tell_of(400);
  CHECK(trust.trial_from() == core::kNever);  // 97: they are soon found out
  convict(policy::kManyConvictions);
  CHECK(trust.trial_from() == kSecond);      // many
  parts.context.now += policy::kTrialGrace;  // then those that were there before are, too
  CHECK(trust.trial_from() == 0);
  trust.step();  // and the alarm is over
  CHECK(trust.trial_from() == core::kNever);
  CHECK(trust.alarmed_since() == kSecond);
  parts.context.now += policy::kAlarmMemory;
  trust.step();
  CHECK(trust.alarmed_since() == core::kNever);
}

TEST_CASE("a neighbour is on trial until one of its rows is shown to be true") {
  core::Parts parts(vouched_manifest(4, 4, 64).id, plain_options(), kSecond);
  REQUIRE(parts.membership.opened(1, peer_id(1), "192.0.2.1", 4000, 0, true));
  const core::Neighbour& one = *parts.membership.find(1);
  CHECK(one.on_trial());
  parts.membership.proved(peer_id(2));  // another's
  CHECK(one.on_trial());
  parts.membership.proved(peer_id(1));
  CHECK_FALSE(one.on_trial());
}

TEST_CASE("neighbours are judged as among polluters until none has been convicted for an hour") {
  core::Parts parts(vouched_manifest(4, 4, 64).id, plain_options(), kSecond);
  parts.start(vouched_manifest(4, 4, 64).info);
  const auto meet = [&](std::uint8_t i) -> const core::Neighbour& {
    REQUIRE(parts.membership.opened(i, peer_id(i), "192.0.2.1", 4000, 0, true));
    parts.transfer->trust.greeted(*parts.membership.find(i));
    return *parts.membership.find(i);
  };
  const auto step_later = [&](TimeUs time) {
    parts.context.now += time;
    parts.transfer->trust.step();
  };
  core::Trust& trust = parts.transfer->trust;
  const core::Neighbour& before = meet(1);
  CHECK_FALSE(before.amid_polluters);
  trust.convict(peer_id(9));
  CHECK(before.amid_polluters);
  CHECK(meet(2).amid_polluters);
  step_later(policy::kConvictedMemory / 2);
  trust.convict(peer_id(9));  // again
  step_later(policy::kConvictedMemory - 1);
  CHECK(before.amid_polluters);
  CHECK(trust.convicted().size() == 1);
  step_later(1);
  CHECK_FALSE(before.amid_polluters);
  CHECK_FALSE(meet(3).amid_polluters);
  CHECK(trust.convicted().empty());
}

TEST_CASE("a source gives next to nothing to a peer that was convicted, and to others as before") {
  core::Parts parts(vouched_manifest(4, 4, 64).id, plain_options(), kSecond);
  for (std::uint8_t i = 1; i <= 2; ++i) {
    REQUIRE(parts.membership.opened(i, peer_id(i), "192.0.2.1", 4000, 0, true));
  }
  parts.start(vouched_manifest(4, 4, 64).info);
  core::Sending& sending = parts.transfer->sending;
  sending.banned(peer_id(1));
  CHECK(parts.membership.find(1)->worth == 1);  // a relay does not judge so
  sending.begin_as_source();
  sending.banned(peer_id(3));  // is no neighbour
  sending.banned(peer_id(1));
  CHECK(parts.membership.find(1)->worth == policy::kWorthMin);
  CHECK(parts.membership.find(2)->worth == 1);
}
