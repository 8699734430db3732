// Why a neighbour is not sent to: of each reason one case, and that a choice finds none then.
#include "client/core/base/why_not.h"

#include <doctest/doctest.h>

#include <functional>

#include "client/core/view/swarm_view.h"
#include "tests/core/facts.h"
#include "tests/core/send/choice/scene.h"

namespace why_not_test {

using namespace firn;
using namespace firn::test;
using core::WhyNot;
using core::policy::RelayPolicy;
using core::policy::SourcePolicy;
using Reason = std::optional<WhyNot>;

namespace {

constexpr std::uint32_t kN = 16;

// A relay with some rows of generation 2 of four, which is not the front, and two neighbours.
struct Relaying {
  Relaying() : scene(4, kN, 2, false), relay(1) {
    scene.hold(2, 4, false);
    scene.hold(3, 1, false);
    for (core::PeerKey peer = 1; peer <= 2; ++peer) scene.tell(peer, {{3, kN, 0, {}}});
  }
  Reason why(core::PeerKey peer = 1,
             RelayPolicy::Circumstances circumstances = {true, core::kNever}) {
    return relay.why_not(scene.holdings, scene.neighbours, scene.peer(peer), circumstances,
                         scene.sockets(), scene.now);
  }
  Scene scene;
  RelayPolicy relay;
};

struct Serving {
  explicit Serving(bool small_mesh = true)
      : scene(4, kN, 2, true), source(scene.holdings.shape(), false), small(small_mesh) {}
  Reason why(core::PeerKey peer = 1) {
    scene.choose(source, small);  // takes the neighbours in
    return source.why_not(scene.holdings, scene.peer(peer), scene.sockets());
  }
  Scene scene;
  SourcePolicy source;
  const bool small;
};

proto::State granting(std::uint32_t credit) {
  proto::State state;
  state.credit = credit;
  return state;
}

// The neighbour is made to be in the way; what its sender answers, a relay and a source alike.
void each(WhyNot reason, const std::function<void(Scene&)>& change) {
  Relaying relay;
  CHECK(relay.why() == Reason());
  change(relay.scene);
  CHECK(relay.why() == Reason(reason));
  const auto relayed = relay.scene.choose(relay.relay, true);
  CHECK((!relayed || relayed->peer != 1));

  Serving source;
  CHECK(source.why() == Reason());
  change(source.scene);
  CHECK(source.why() == Reason(reason));
  const auto served = source.scene.choose(source.source, true);
  CHECK((!served || served->peer != 1));
}

}  // namespace

TEST_CASE("why not: what stands against a neighbour, whatever there is for it") {
  each(WhyNot::kWantsNothing, [](Scene& s) { s.tell(1, {}, {{0, 4}}); });
  each(WhyNot::kSuspended, [](Scene& s) { s.peer(1).regard_as(core::Regard::kSuspended, false); });
  each(WhyNot::kLastVersion, [](Scene& s) {
    proto::State state = granting(100'000);
    state.wants_claims = true;
    REQUIRE(s.peer(1).apply_state(std::move(state)));
  });
  each(WhyNot::kSocketFull, [](Scene& s) { s.peer(1).book_block(1, s.now); });
}

TEST_CASE("why not: it has not spoken yet, or has granted nothing") {
  Relaying relay;
  Neighbour fresh(9, peer_id(8), "192.0.2.8", 1, false, 0);
  fresh.holds.set_shape(relay.scene.holdings.shape());
  const auto why = [&] {
    return relay.relay.why_not(relay.scene.holdings, relay.scene.neighbours, fresh,
                               {true, core::kNever}, relay.scene.sockets(), relay.scene.now);
  };
  CHECK(why() == Reason(WhyNot::kNotHeard));
  REQUIRE(fresh.apply_state(granting(0)));
  CHECK(why() == Reason(WhyNot::kNoCredit));
  REQUIRE(fresh.apply_state(granting(1)));
  CHECK(why() == Reason());
}

TEST_CASE("why not: the uplink has as many blocks waiting as it carries") {
  Relaying relay;
  const Scene& s = relay.scene;
  CHECK(relay.relay.why_not(s.holdings, s.neighbours, relay.scene.peer(1), {true, core::kNever},
                            {kBusy, kBusy}, s.now) == Reason(WhyNot::kUplinkBusy));
}

TEST_CASE("why not: a relay that holds nothing for it") {
  Scene empty(4, kN, 1, false);
  RelayPolicy relay(1);
  CHECK(relay.why_not(empty.holdings, empty.neighbours, empty.peer(1), {true, core::kNever},
                      empty.sockets(), empty.now) == Reason(WhyNot::kNothingHeld));
  Relaying some;
  proto::State state = granting(100'000);
  state.proven_only = true;
  REQUIRE(some.scene.peer(1).apply_state(std::move(state)));
  CHECK(some.why() == Reason(WhyNot::kNothingProven));
  Relaying equal;
  equal.scene.tell(1, {{2, 4, kN, {}}});
  CHECK(equal.why() == Reason(WhyNot::kNoNews));
  Relaying divided;
  divided.scene.tell(1, {{2, 0, 0, {}}});
  CHECK(divided.why() == Reason(WhyNot::kOthersSend));
}

TEST_CASE("why not: block by block, what it asks others for") {
  proto::GenerationState asks_for_nothing;
  asks_for_nothing.generation = 2;
  asks_for_nothing.quota = 4;
  asks_for_nothing.wanted_blocks = {0, 0};
  Relaying relay;
  relay.scene.tell(1, {asks_for_nothing});
  CHECK(relay.why() == Reason(WhyNot::kNotAskedFor));
  Serving source;
  source.scene.tell(1, {asks_for_nothing}, {{0, 2}, {3, 1}});
  CHECK(source.why() == Reason(WhyNot::kNotAskedFor));
}

TEST_CASE("why not: second-hand rows wait at the front of a small mesh, until it stands still") {
  Scene scene(4, kN, 1, false);
  scene.hold(3, 3, false, scene.now);
  RelayPolicy relay(1);
  const auto why = [&](bool small) {
    CHECK_FALSE((small && scene.choose(relay, true)));
    return relay.why_not(scene.holdings, scene.neighbours, scene.peer(1), {small, core::kNever},
                         scene.sockets(), scene.now);
  };
  CHECK(why(true) == Reason(WhyNot::kFront));
  CHECK(why(false) == Reason());
}

TEST_CASE("why not: others come first while they want something") {
  Relaying relay;
  const RelayPolicy::Circumstances wary{false, 0};
  relay.scene.peer(2).regard_as(core::Regard::kProven, false);
  CHECK(relay.why(1, wary) == Reason(WhyNot::kOthersFirst));
  CHECK(relay.why(2, wary) == Reason());
  relay.scene.tell(2, {}, {{0, 4}});
  CHECK(relay.why(1, wary) == Reason());

  Serving source(false);
  source.scene.peer(1).worth = facts::kLowWorth;
  CHECK(source.why(1) == Reason(WhyNot::kOthersFirst));
  CHECK(source.why(2) == Reason());
}

TEST_CASE("why not: a source whose share of the last rows is none, or all on its way") {
  Serving source;
  source.scene.tell(1, {{1, 0, 0, {}}}, {{0, 1}, {2, 2}});
  CHECK(source.why() == Reason(WhyNot::kOthersSend));
  source.scene.tell(1, {{1, kN, 4, {}}});
  CHECK(source.why() == Reason(WhyNot::kNoNews));
}

namespace {

core::PeerStatus status_of(const Fixture& fixture) {
  const core::SwarmView view = fixture.core.view();
  REQUIRE(view.peers.size() == 1);
  return view.peers.front();
}

}  // namespace

TEST_CASE("why not: a view tells it of both directions, until blocks go") {
  Fixture fixture(plain_manifest(4, 8, 16));
  fixture.start();
  fixture.open(1, peer_id(1));
  CHECK(status_of(fixture).not_sent == Reason(WhyNot::kNothingHeld));
  CHECK(status_of(fixture).not_received == Reason(WhyNot::kNotHeard));
  fixture.say_state(1, 0, 0, {});
  CHECK(status_of(fixture).not_received == Reason(WhyNot::kNothingHeld));
  fixture.say_state(1, 0, 0, {}, {{0, 4}});
  CHECK(status_of(fixture).not_received == Reason());
  fixture.pass(4 * kSecond);
  CHECK(status_of(fixture).not_received == Reason(WhyNot::kOwesBlocks));
  fixture.core.store_paused({ErrorCode::kDiskFull, "write", "no space"}, fixture.now);
  CHECK(status_of(fixture).not_received == Reason(WhyNot::kDiskPaused));
  fixture.core.store_resumed(fixture.now);
  fixture.say(1, fixture.block(2, 1, 0));
  CHECK(status_of(fixture).not_received == Reason());
  CHECK(status_of(fixture).not_sent == Reason(WhyNot::kWantsNothing));
}

TEST_CASE("why not: a limit of the rate upwards") {
  core::Options options = plain_options();
  options.up_limit = 1;  // bytes a second
  Fixture source(plain_manifest(4, 8, 4096), options);
  source.start(true);
  source.join(1, peer_id(1), 100);
  source.pass(10 * kSecond);
  CHECK(status_of(source).not_sent == Reason(WhyNot::kRateLimit));
  CHECK(status_of(source).not_received == Reason(WhyNot::kWantsNothing));
}

}  // namespace why_not_test
