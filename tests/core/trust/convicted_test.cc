// What a peer makes of those that it has convicted, and of others that come while false rows are
// about.
#include "client/core/parts.h"
#include "proto/base/limits.h"
#include "tests/core/facts.h"
#include "tests/core/trust/inside.h"
#include "tests/core/trust/large_mesh_fixture.h"

using namespace firn;
using namespace firn::test;

TEST_CASE("neighbours are on trial where those that were convicted are a part of many") {
  core::Parts parts(vouched_manifest(4, 4, 64).id, large_mesh_options(roomy()), kSecond);
  for (std::uint8_t i = 1; i <= facts::kLargeMesh; ++i) {
    REQUIRE(parts.membership.opened(i, peer_id(i), "192.0.2.1", 4000, 0, true));
  }
  parts.start(vouched_manifest(4, 4, 64).info);
  Inside inside(parts);
  core::trust::Regime& regime = inside.regime;
  const auto convict = [&](std::uint32_t up_to) {
    for (std::uint32_t i = 1; i <= up_to; ++i) regime.convict(numbered(1000 + i));
  };
  const auto tell_of = [&](std::uint32_t peers) { parts.trackers.replied(0, told_of(peers)); };
  tell_of(100'000);
  convict(8);
  regime.step();
  CHECK(regime.trial_from() == core::kNever);  // no false row has come to this peer
  regime.alarm(facts::kConvictionOver);
  CHECK(regime.trial_from() == kSecond);  // of that many thousands must be like them
  tell_of(100);
  CHECK(regime.trial_from() == core::kNever);  // a few dozen: they are soon found out
  convict(limits::kConvictedMax);
  CHECK(regime.trial_from() == kSecond);  // many
  // A little later those that were there before are, too.
  const TimeUs grace_until = parts.context.now + 60 * kSecond;
  while (regime.trial_from() > 0 && parts.context.now < grace_until) parts.context.now += kSecond;
  CHECK(regime.trial_from() == 0);
  parts.context.now += facts::kConvictionOver;
  CHECK(regime.trial_from() == core::kNever);
}

TEST_CASE("a neighbour is on trial until one of its rows is shown to be true") {
  core::Parts parts(vouched_manifest(4, 4, 64).id, plain_options(), kSecond);
  REQUIRE(parts.membership.opened(1, peer_id(1), "192.0.2.1", 4000, 0, true));
  parts.start(vouched_manifest(4, 4, 64).info);
  Inside inside(parts);
  CHECK(inside.regard(1) == core::Regard::kNew);
  inside.regards.proved(peer_id(2));  // another's
  CHECK(inside.regard(1) == core::Regard::kNew);
  inside.regards.proved(peer_id(1));
  CHECK(inside.regard(1) == core::Regard::kProven);
}

TEST_CASE("neighbours are judged as among polluters until none has been convicted for an hour") {
  core::Parts parts(vouched_manifest(4, 4, 64).id, plain_options(), kSecond);
  parts.start(vouched_manifest(4, 4, 64).info);
  Inside inside(parts);
  core::trust::Regime& regime = inside.regime;
  const auto meet = [&](std::uint8_t i) {
    REQUIRE(parts.membership.opened(i, peer_id(i), "192.0.2.1", 4000, 0, true));
    regime.greeted(*parts.membership.find(i));
    return inside.regard(i);
  };
  const auto step_later = [&](TimeUs time) {
    parts.context.now += time;
    regime.step();
  };
  CHECK(meet(1) == core::Regard::kNew);
  regime.convict(peer_id(9));
  CHECK(inside.regard(1) == core::Regard::kSuspect);
  CHECK(meet(2) == core::Regard::kSuspect);
  step_later(facts::kConvictionOver / 2);
  regime.convict(peer_id(9));  // again
  step_later(facts::kConvictionOver - 1);
  CHECK(inside.regard(1) == core::Regard::kSuspect);
  CHECK(regime.convicted().size() == 1);
  step_later(1);
  CHECK(inside.regard(1) == core::Regard::kNew);
  CHECK(meet(3) == core::Regard::kNew);
  CHECK(regime.convicted().empty());
}
