// What neighbours read now comes first at a relay, and the others get a share.
#include <doctest/doctest.h>

#include <map>
#include <vector>

#include "tests/core/facts.h"
#include "tests/core/send/choice/scene.h"

using namespace firn;
using namespace firn::test;
using core::policy::RelayPolicy;

namespace {

// A relay that holds all of 400 generations of four blocks, and eight neighbours.
struct Readers : Scene {
  Readers() : Scene(400, 4, 8, false) {
    for (std::uint32_t g = 0; g < 400; ++g) holdings.set_verified(g);
  }
  std::map<core::PeerKey, int> serve(int blocks, bool small_mesh = true) {
    std::map<core::PeerKey, int> sent;
    for (int i = 0; i < blocks; ++i) {
      const auto choice = choose(relay, small_mesh);
      REQUIRE(choice);
      ++sent[choice->peer];
      send(*choice);
    }
    return sent;
  }
  RelayPolicy relay{1};
};

std::vector<proto::GenerationState> eight_from(std::uint32_t g,
                                               std::uint32_t urgency = proto::kAwaited) {
  std::vector<proto::GenerationState> all;
  for (std::uint32_t i = 0; i < 8; ++i) all.push_back(reads(g + i, urgency));
  return all;
}

}  // namespace

TEST_CASE("what somebody reads goes out before what others lack more of") {
  for (const bool small : {true, false}) {
    CAPTURE(small);
    for (const std::uint32_t urgency : {proto::kReadSoon, proto::kAwaited}) {
      Readers s;
      s.tell(1, eight_from(300, urgency), {{0, 50}});  // it has most, and comes last by that
      CHECK(s.serve(24, small)[1] > 12);
    }
    Readers s;
    s.tell(1, eight_from(300, proto::kNotUrgent), {{0, 50}});
    CHECK(s.serve(24, small)[1] == 0);
  }
}

TEST_CASE("of what a neighbour lacks it gets first what it reads") {
  for (const bool small : {true, false}) {
    CAPTURE(small);
    Readers s;
    for (core::PeerKey peer = 2; peer <= 8; ++peer) s.tell(peer, {}, {{0, 400}});
    s.tell(1, {reads(300)});
    for (int i = 0; i < 4; ++i) {
      const auto choice = s.choose(s.relay, small);
      REQUIRE(choice);
      CHECK(choice->generation == 300);
      s.send(*choice);
    }
    const auto choice = s.choose(s.relay, small);
    REQUIRE(choice);
    CHECK(choice->generation < 300);
    // It reads on.
    s.tell(1, {reads(300, proto::kNotUrgent), reads(200)});
    const auto next = s.choose(s.relay, small);
    REQUIRE(next);
    CHECK(next->generation == 200);
  }
}

TEST_CASE("several that read are served in turn") {
  Readers s;
  s.tell(1, eight_from(300), {{0, 100}});
  s.tell(2, eight_from(350), {{0, 100}});
  auto sent = s.serve(40);
  CHECK(sent[1] > 10);
  CHECK(sent[2] > 10);
}

TEST_CASE("beside a neighbour that calls everything urgent the others get a share") {
  for (const bool small : {true, false}) {
    CAPTURE(small);
    Readers s;
    std::map<core::PeerKey, int> sent;
    for (std::uint32_t round = 0; round < 30; ++round) {
      const std::uint32_t has = 50 + 8 * round;
      std::vector<proto::GenerationState> all;
      for (std::uint32_t g = has; g < 400; ++g) all.push_back(reads(g));
      s.tell(1, all, {{0, has}});
      for (const auto& [peer, blocks] : s.serve(24, small)) sent[peer] += blocks;
    }
    CHECK(sent[1] > 24);
    for (core::PeerKey peer = 2; peer <= 8; ++peer) CHECK(sent[peer] >= 3);
  }
}

TEST_CASE("who is far ahead of all others waits, whatever it reads") {
  Readers s;
  s.tell(1, {reads(395), reads(396), reads(397)}, {{0, 390}});
  CHECK(s.serve(24, false)[1] == 0);
}

TEST_CASE("a neighbour that brings nothing is served last, whatever it reads") {
  Scene s(400, 4, 3, false);
  for (std::uint32_t g = 0; g < 399; ++g) s.holdings.set_verified(g);
  RelayPolicy relay(1);
  Choice to_first;
  to_first.peer = 1;
  for (std::uint64_t i = 0; i < facts::kDebt; ++i) s.send(to_first);
  s.tell(1, eight_from(300), {}, facts::kDebt);
  REQUIRE(s.peer(1).in_debt());
  std::map<core::PeerKey, int> sent;
  for (int i = 0; i < 200; ++i) {
    const auto choice = s.choose(relay, true);
    REQUIRE(choice);
    ++sent[choice->peer];
    s.send(*choice);
    if (choice->peer != 1) s.peer(choice->peer).brought_news();
  }
  CHECK(sent[1] < 20);
}

TEST_CASE("that a neighbour reads what the relay has nothing of changes nothing") {
  Scene s(6, 4, 2, false);
  s.holdings.set_verified(0);
  s.hold(5, 1, false);
  RelayPolicy relay(1);
  s.tell(1, {reads(3)});
  std::map<core::PeerKey, int> sent;
  for (int i = 0; i < 8; ++i) {
    const auto choice = s.choose(relay, true);
    REQUIRE(choice);
    CHECK(choice->generation == 0);
    ++sent[choice->peer];
    s.send(*choice);
  }
  CHECK(sent == std::map<core::PeerKey, int>{{1, 4}, {2, 4}});
}
