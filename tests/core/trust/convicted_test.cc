// What a peer makes of those that it has convicted, and of others that come while false rows are
// about.
#include "client/core/parts.h"
#include "client/core/policy/constants.h"
#include "tests/core/large_mesh_fixture.h"

using namespace firn;
using namespace firn::test;
namespace policy = core::policy;

TEST_CASE("neighbours are on trial where those that were convicted are a part of many") {
  core::Parts parts(vouched_manifest(4, 4, 64).id, large_mesh_options(), kSecond);
  for (std::uint8_t i = 1; i <= policy::kSmallMesh + 1; ++i) {
    REQUIRE(parts.membership.opened(i, peer_id(i), "192.0.2.1", 4000, 0, true));
  }
  parts.start(vouched_manifest(4, 4, 64).info);
  core::trust::Trust& trust = parts.transfer->trust;
  const auto convict = [&](std::uint32_t up_to) {
    for (std::uint32_t i = 1; i <= up_to; ++i) trust.convict(numbered(1000 + i));
  };
  const auto tell_of = [&](std::uint32_t peers) { parts.trackers.replied(0, told_of(peers)); };
  tell_of(1000);
  convict(2 * policy::kSomeConvictions);
  trust.step();
  CHECK(trust.trial_from() == core::kNever);  // no false row has come to this peer
  trust.alarm(policy::kConvictedMemory);
  CHECK(trust.trial_from() == kSecond);  // 8 of 33 make 242 of 1,000
  tell_of(400);
  CHECK(trust.trial_from() == core::kNever);  // 97: they are soon found out
  convict(policy::kManyConvictions);
  CHECK(trust.trial_from() == kSecond);      // many
  parts.context.now += policy::kTrialGrace;  // then those that were there before are, too
  CHECK(trust.trial_from() == 0);
  parts.context.now += policy::kConvictedMemory;
  CHECK(trust.trial_from() == core::kNever);
}

TEST_CASE("a neighbour is on trial until one of its rows is shown to be true") {
  core::Parts parts(vouched_manifest(4, 4, 64).id, plain_options(), kSecond);
  REQUIRE(parts.membership.opened(1, peer_id(1), "192.0.2.1", 4000, 0, true));
  parts.start(vouched_manifest(4, 4, 64).info);
  const core::Neighbour& one = *parts.membership.find(1);
  CHECK(on_trial(one.regard()));
  parts.transfer->trust.proved(peer_id(2));  // another's
  CHECK(on_trial(one.regard()));
  parts.transfer->trust.proved(peer_id(1));
  CHECK_FALSE(on_trial(one.regard()));
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
  core::trust::Trust& trust = parts.transfer->trust;
  const core::Neighbour& before = meet(1);
  CHECK_FALSE((before.regard() == core::Regard::kSuspect));
  trust.convict(peer_id(9));
  CHECK((before.regard() == core::Regard::kSuspect));
  CHECK((meet(2).regard() == core::Regard::kSuspect));
  step_later(policy::kConvictedMemory / 2);
  trust.convict(peer_id(9));  // again
  step_later(policy::kConvictedMemory - 1);
  CHECK((before.regard() == core::Regard::kSuspect));
  CHECK(trust.convicted().size() == 1);
  step_later(1);
  CHECK_FALSE((before.regard() == core::Regard::kSuspect));
  CHECK_FALSE((meet(3).regard() == core::Regard::kSuspect));
  CHECK(trust.convicted().empty());
}
