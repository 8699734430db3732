// Which neighbour gets a block of which generation from a relay.
#include "client/core/send/choice/relay_policy.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "codec/encode.h"
#include "tests/core/facts.h"
#include "tests/core/send/choice/scene.h"

using namespace firn;
using namespace firn::test;
using core::Neighbour;
using core::policy::RelayPolicy;

TEST_CASE("a relay sends only of what it holds and the neighbour lacks") {
  Scene s(4, 4, 1, false);
  RelayPolicy relay(1);
  for (const bool small : {true, false}) {
    CHECK_FALSE(s.choose(relay, small));
  }
  s.hold(2, 2, false);
  s.hold(3, 1, false);  // so that generation 2 is not the front
  s.tell(1, {{3, 4, 0, {}}});
  for (const bool small : {true, false}) {
    CAPTURE(small);
    const auto choice = s.choose(relay, small);
    REQUIRE(choice);
    CHECK(choice->generation == 2);
    CHECK_FALSE(choice->source_index);
  }
  s.tell(1, {{2, 2, 4, {}}});  // as much as we hold
  for (const bool small : {true, false}) {
    CHECK_FALSE(s.choose(relay, small));
  }
}

TEST_CASE("what is in flight counts as had, and a quota holds") {
  Scene s(4, 8, 1, false);
  RelayPolicy relay(1);
  s.hold(0, 5, false);
  s.hold(3, 1, false);
  s.tell(1, {{0, 2, 2, {}}, {3, 8, 0, {}}});
  for (int i = 0; i < 2; ++i) {
    const auto choice = s.choose(relay, true);
    REQUIRE(choice);
    s.send(*choice);
  }
  CHECK_FALSE(s.choose(relay, true));  // quota 2
  s.tell(1, {{0, 2, 8, {}}});
  const auto choice = s.choose(relay, true);
  REQUIRE(choice);
  s.send(*choice);
  CHECK_FALSE(s.choose(relay, true));  // 2 + 3 = ours
}

TEST_CASE("first-hand rule: at the front of a small mesh rows from the source go on once each") {
  Scene s(4, 8, 2, false);
  RelayPolicy relay(1);
  s.hold(3, 3, true, s.now);
  std::map<core::PeerKey, int> sent;
  while (const auto choice = s.choose(relay, true)) {
    ++sent[choice->peer];
    s.send(*choice);
    REQUIRE(sent.size() + sent.begin()->second < 20);
  }
  CHECK(sent == std::map<core::PeerKey, int>{{1, 3}, {2, 3}});

  Scene second_hand(4, 16, 2, false);
  second_hand.hold(3, 3, false, second_hand.now);
  CHECK_FALSE(second_hand.choose(relay, true));
  // Unless the front stands still, or the mesh is large.
  CHECK(second_hand.choose(relay, false));
  second_hand.now += 2 * facts::kStandsStill;
  CHECK(second_hand.choose(relay, true));
}

TEST_CASE("what the front has passed stays closed to second-hand rows for round trips") {
  Scene s(6, 16, 3, false);
  RelayPolicy relay(1);
  constexpr TimeUs kPath = facts::kStandsStill / 10;  // the front does not come to stand still
  for (core::PeerKey key = 1; key <= 3; ++key) {
    s.peer(key).grants.grant(1, 0);
    REQUIRE(s.peer(key).book_arrival(1, kBlockBytes, kPath));
  }
  CHECK_FALSE(s.choose(relay, true));
  s.now += 2 * kSecond;  // no row of a source has come
  s.hold(2, 8, false, s.now);
  CHECK_FALSE(s.choose(relay, true));
  s.hold(3, 1, false, s.now);  // the front goes on
  const TimeUs moved_at = s.now;
  auto choice = s.choose(relay, true);
  for (; !choice && s.now < moved_at + 10 * kPath; choice = s.choose(relay, true))
    s.now += kPath / 100;
  CHECK(s.now >= moved_at + kPath);
  REQUIRE(choice);
  CHECK(choice->generation == 2);
}

TEST_CASE("rows of a source alone move the front while they come") {
  Scene s(6, 16, 3, false);
  RelayPolicy relay(1);
  CHECK_FALSE(s.choose(relay, true));
  s.hold(2, 8, false, s.now);
  s.hold(4, 1, false, s.now);  // of a peer that wants other generations
  CHECK_FALSE(s.choose(relay, true));
  s.now += facts::kStandsStill / 2;
  CHECK_FALSE(s.choose(relay, true));
  for (const std::uint32_t i : {0u, 1u}) {
    const core::Holdings::Origin origin{.sender = peer_id(9), .from_source = true};
    const auto row = codec::unit_vector(s.holdings.generation_size(), i);
    s.holdings.insert(3, std::make_shared<const std::vector<std::uint8_t>>(row), origin, s.now);
    CHECK(s.choose(relay, true).has_value() == (i == 1));
  }
  const auto choice = s.choose(relay, true);
  REQUIRE(choice);
  CHECK(choice->generation == 2);
}

TEST_CASE("the front goes on in steps, each as long after it was passed") {
  core::policy::DownloadFront front;
  CHECK(front.first(0) == 0);
  front.move(5, 100, 1000);
  CHECK(front.first(1000) == 0);
  front.move(7, 100, 1050);
  CHECK(front.frontier() == 7);
  CHECK(front.first(1099) == 0);
  CHECK(front.first(1100) == 4);
  CHECK(front.first(1150) == 6);
  front.move(8, 0, 1200);
  CHECK(front.first(1200) == 7);
}

TEST_CASE("a relay serves the most deprived first, and its lowest generation") {
  Scene s(6, 4, 3, false);
  RelayPolicy relay(1);
  for (std::uint32_t g = 0; g < 5; ++g) s.holdings.set_verified(g);
  s.hold(5, 1, false);
  s.tell(1, {}, {{0, 3}});
  s.tell(2, {}, {{0, 2}});
  s.tell(3, {}, {{0, 4}});
  const auto choice = s.choose(relay, true);
  REQUIRE(choice);
  CHECK(choice->peer == 2);
  CHECK(choice->generation == 2);
}

TEST_CASE("of many that lack about as much none is served twice before all others were") {
  Scene s(400, 4, 8, false);
  RelayPolicy relay(1);
  for (std::uint32_t g = 0; g < 400; ++g) s.holdings.set_verified(g);
  // The first lacks a row more than all others: that is no reason for every sender to choose it.
  for (core::PeerKey peer = 2; peer <= 8; ++peer) s.tell(peer, {{399, 2, 4, {}}});
  s.tell(1, {{399, 1, 4, {}}});
  for (int round = 0; round < 3; ++round) {
    std::map<core::PeerKey, int> sent;
    for (int i = 0; i < 8; ++i) {
      const auto choice = s.choose(relay, true);
      REQUIRE(choice);
      if (i == 0) CHECK(choice->peer == 1);
      ++sent[choice->peer];
      s.send(*choice);
    }
    CHECK(sent.size() == 8);
  }
}

TEST_CASE("a neighbour far behind is served oftener, and not alone") {
  Scene s(400, 4, 8, false);
  RelayPolicy relay(1);
  for (std::uint32_t g = 0; g < 400; ++g) s.holdings.set_verified(g);
  for (core::PeerKey peer = 2; peer <= 8; ++peer) s.tell(peer, {}, {{0, 10}});
  std::map<core::PeerKey, int> sent;
  for (int i = 0; i < 80; ++i) {
    const auto choice = s.choose(relay, true);
    REQUIRE(choice);
    ++sent[choice->peer];
    s.send(*choice);
  }
  CHECK(sent[1] > 30);  // until it has caught up
  for (core::PeerKey peer = 2; peer <= 8; ++peer) CHECK(sent[peer] >= 1);
}

TEST_CASE("a neighbour that comes late is served like the others, not until it has caught up") {
  bool small_mesh = true;
  SUBCASE("in a small mesh") {}
  SUBCASE("in a large mesh") {
    small_mesh = false;
  }
  constexpr std::uint32_t kGenerations = 400, kSize = 4, kPeers = 8;
  Scene s(kGenerations, kSize, kPeers, false);
  RelayPolicy relay(1);
  for (std::uint32_t g = 0; g < kGenerations; ++g) s.holdings.set_verified(g);
  for (core::PeerKey peer = 1; peer <= kPeers; ++peer) s.tell(peer, {}, {{0, 100}});
  REQUIRE(s.choose(relay, small_mesh));
  auto late = std::make_unique<Neighbour>(kPeers + 1, peer_id(kPeers + 1), "192.0.2.1",
                                          std::uint16_t{1}, false, s.now);
  late->holds.set_shape(s.holdings.shape());
  s.neighbours.add(std::move(late));
  s.tell(kPeers + 1, {});
  std::map<core::PeerKey, std::uint64_t> sent;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const auto choice = s.choose(relay, small_mesh);
    REQUIRE(choice);
    ++sent[choice->peer];
    s.send(*choice);
  }
  const std::uint64_t fair = 400 / (kPeers + 1);
  CHECK(sent[kPeers + 1] > fair);  // it still comes sooner
  CHECK(sent[kPeers + 1] <= 200);
  for (core::PeerKey peer = 1; peer <= kPeers; ++peer) CHECK(sent[peer] > fair / 2);
}

TEST_CASE("a peer with few neighbours is served sooner, and is ahead of the others then") {
  Scene s(400, 4, 8, false);
  RelayPolicy relay(1);
  for (std::uint32_t g = 0; g < 400; ++g) s.holdings.set_verified(g);
  for (core::PeerKey key = 1; key <= 8; ++key) {
    proto::State state;
    state.credit = 100'000;
    state.neighbours = key <= 2 ? 5 : 8;
    REQUIRE(s.peer(key).apply_state(std::move(state)));
    s.tell(key, {});  // as many as it said
  }
  std::map<core::PeerKey, std::uint64_t> sent;
  const auto serve = [&](std::uint64_t blocks) {
    for (std::uint64_t i = 0; i < blocks; ++i) {
      const auto choice = s.choose(relay, true);
      REQUIRE(choice);
      ++sent[choice->peer];
      s.send(*choice);
    }
  };
  serve(20);
  CHECK(sent[1] + sent[2] == 20);
  CHECK(sent[1] == 10);  // in turn
  serve(1000);
  for (core::PeerKey key = 3; key <= 8; ++key) {
    CHECK(sent[key] > 50);
    CHECK(sent[1] <= sent[key] + 200);
  }
}

TEST_CASE(
    "a peer that claims few neighbours and tells of no rank is ahead for a while, not for good") {
  Scene s(400, 4, 8, false);
  RelayPolicy relay(1);
  for (std::uint32_t g = 0; g < 400; ++g) s.holdings.set_verified(g);
  std::map<core::PeerKey, std::uint32_t> sent;
  const auto tell = [&](core::PeerKey key) {
    proto::State state;
    state.credit = 100'000;
    state.neighbours = key == 1 ? 5 : 8;
    state.acknowledged = sent[key];
    REQUIRE(s.peer(key).apply_state(std::move(state)));
  };
  for (core::PeerKey key = 1; key <= 8; ++key) tell(key);
  for (int i = 0; i < 800; ++i) {
    const auto choice = s.choose(relay, true);
    REQUIRE(choice);
    const core::PeerKey key = choice->peer;
    ++sent[key];
    s.send(*choice);
    if (key == 1) tell(1);
  }
  for (core::PeerKey key = 2; key <= 8; ++key) CHECK(sent[1] <= sent[key] + 200);
}

TEST_CASE("a peer that only takes is served last, and not starved") {
  Scene s(400, 4, 2, false);
  RelayPolicy relay(1);
  for (std::uint32_t g = 0; g < 400; ++g) s.holdings.set_verified(g);
  // The first is more deprived, and has had credit for long without sending anything.
  s.tell(1, {}, {{0, 1}});
  s.tell(2, {}, {{0, 2}});
  s.now = 100 * kSecond;
  for (core::PeerKey peer = 1; peer <= 2; ++peer) s.peer(peer).grants.grant(4, 0);
  REQUIRE(s.peer(2).book_arrival(1, kBlockBytes, s.now - kSecond));
  std::map<core::PeerKey, int> sent;
  for (int i = 0; i < 1000; ++i) {
    const auto choice = s.choose(relay, true);
    REQUIRE(choice);
    ++sent[choice->peer];
    s.peer(choice->peer).book_block(choice->generation, s.now);
    s.peer(choice->peer).block_departed(kBlockBytes, s.now);
  }
  CHECK(sent[1] > 10);
  CHECK(sent[1] < 100);
  // Alone it gets all there is.
  s.neighbours.erase(2);
  CHECK(s.choose(relay, true));
}

TEST_CASE("in a small mesh a neighbour that brings nothing gets little of a busy uplink") {
  Scene s(400, 4, 3, false);
  RelayPolicy relay(1);
  for (std::uint32_t g = 0; g < 399; ++g) s.holdings.set_verified(g);
  const auto served = [&] {
    std::map<core::PeerKey, int> sent;
    for (int i = 0; i < 300; ++i) {
      const auto choice = s.choose(relay, true);
      if (!choice) continue;
      ++sent[choice->peer];
      s.send(*choice);
      if (choice->peer != 1) s.peer(choice->peer).brought_news();
    }
    return sent;
  };
  auto sent = served();
  CHECK(sent[1] >= static_cast<int>(facts::kDebt));
  CHECK(sent[1] < static_cast<int>(facts::kDebt) + 20);
  CHECK(sent[2] > 100);
  s.peer(1).brought_news();
  CHECK(served()[1] >= static_cast<int>(facts::kDebt));
  // Alone it gets all there is.
  s.neighbours.erase(2);
  s.neighbours.erase(3);
  CHECK(served()[1] > 200);
}

TEST_CASE("neighbours on trial wait for those that have proved themselves") {
  constexpr int kBlocks = 1000;
  const auto blocks_to_first = [](TimeUs trial_from, bool proved) {
    Scene s(400, 4, 2, false);  // whose neighbours came at 0
    for (std::uint32_t g = 0; g < 399; ++g) s.holdings.set_verified(g);
    RelayPolicy relay(1);
    s.peer(1).regard_as(proved ? core::Regard::kProven : core::Regard::kNew, false);
    s.peer(2).regard_as(core::Regard::kProven, false);
    int served = 0;
    for (int i = 0; i < kBlocks; ++i) {
      const auto choice = s.choose_warily(relay, trial_from);
      REQUIRE(choice);
      served += choice->peer == 1 ? 1 : 0;
      s.send(*choice);
    }
    return served;
  };
  CHECK(blocks_to_first(core::kNever, false) == kBlocks / 2);
  CHECK(blocks_to_first(1, false) == kBlocks / 2);  // it was there before
  CHECK(blocks_to_first(0, true) == kBlocks / 2);
  const int few = blocks_to_first(0, false);
  CHECK(few > 0);  // it may be honest, and can only prove itself by what it was given
  CHECK(few < kBlocks / 32);
}

TEST_CASE("where all are on trial all are served") {
  Scene s(40, 4, 2, false);
  for (std::uint32_t g = 0; g < 39; ++g) s.holdings.set_verified(g);
  RelayPolicy relay(1);
  std::map<core::PeerKey, int> served;
  for (int i = 0; i < 40; ++i) {
    const auto choice = s.choose_warily(relay);
    REQUIRE(choice);
    ++served[choice->peer];
    s.send(*choice);
  }
  CHECK(served == std::map<core::PeerKey, int>{{1, 20}, {2, 20}});
}

TEST_CASE("a neighbour that brings nothing is served when no other can take a block") {
  Scene s(40, 4, 2, false, 0);
  for (std::uint32_t g = 0; g < 39; ++g) s.holdings.set_verified(g);
  RelayPolicy relay(1);
  s.tell(1, {}, {}, 0, 100'000);
  s.tell(2, {}, {}, 0, 1);
  Choice to_first;
  to_first.peer = 1;
  for (std::uint64_t i = 0; i < facts::kDebt; ++i) s.send(to_first);
  const auto choice = s.choose(relay, true);
  REQUIRE((choice && choice->peer == 2));
  s.peer(2).book_block(choice->generation, s.now);  // its credit is used up
  const auto next = s.choose(relay, true);
  REQUIRE(next);
  CHECK(next->peer == 1);
}

TEST_CASE("in a large mesh the largest gap in rank goes first") {
  Scene s(3, 16, 1, false);
  RelayPolicy relay(1);
  s.hold(0, 6, false);
  s.hold(1, 12, false);
  s.hold(2, 8, false);
  s.tell(1, {{0, 5, 9, {}}, {1, 2, 9, {}}, {2, 3, 9, {}}});
  const auto choice = s.choose(relay, false);
  REQUIRE(choice);
  CHECK(choice->generation == 1);
}

TEST_CASE("generations beyond those looked at first are found in the end") {
  const std::uint32_t count = 3000;
  Scene s(count, 2, 1, false);
  RelayPolicy relay(1);
  for (std::uint32_t g = 0; g < count; ++g) s.holdings.set_verified(g);
  // Of all but one it claims full rank, and never completes them.
  for (std::uint32_t g = 0; g < count; ++g) {
    if (g != 2500) s.tell(1, {{g, 2, 4, {}}});
  }
  int tries = 0;
  std::optional<Choice> choice;
  while (!choice && ++tries < 20) {
    choice = s.choose(relay, true);
  }
  REQUIRE(choice);
  CHECK(choice->generation == 2500);
}
