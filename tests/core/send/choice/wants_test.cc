// No neighbour gets what it does not want, nor what it has sent itself.
#include "tests/core/send/choice/scene.h"

using namespace firn;
using namespace firn::test;
using core::policy::RelayPolicy;
using core::policy::SourcePolicy;

TEST_CASE("nobody sends a generation to a neighbour that does not want it") {
  Scene s(4, 4, 1, true);
  proto::State state;
  state.credit = 100'000;
  state.unwanted = {{0, 2}, {3, 1}};
  REQUIRE(s.peer(1).apply_state(std::move(state)));
  SourcePolicy source(shape_of(4, 4), false);
  RelayPolicy relay(1);
  for (int i = 0; i < 8; ++i) {
    const auto choice = s.choose(source, true);
    REQUIRE(choice);
    CHECK(choice->generation == 2);
    source.served(*choice, s.now);
  }
  for (const bool small : {true, false}) {
    const auto choice = s.choose(relay, small);
    REQUIRE(choice);
    CHECK(choice->generation == 2);
  }
  s.tell(1, {}, {{2, 1}});
  CHECK_FALSE(s.choose(source, true));
  for (const bool small : {true, false}) CHECK_FALSE(s.choose(relay, small));
  s.tell(1, {{3, 0, 2, {}}});
  CHECK(s.choose(source, true)->generation == 3);
}

TEST_CASE("what a neighbour wants is found behind any number of generations it does not want") {
  constexpr std::uint32_t kMany = 20'000;
  Scene s(kMany, 4, 1, true);
  proto::State state;
  state.credit = 100'000;
  state.unwanted = {{0, kMany - 1}};
  REQUIRE(s.peer(1).apply_state(std::move(state)));
  SourcePolicy source(shape_of(kMany, 4), false);
  RelayPolicy relay(1);
  const auto served = s.choose(source, true);
  REQUIRE(served);
  CHECK(served->generation == kMany - 1);
  for (const bool small : {true, false}) {
    const auto choice = s.choose(relay, small);
    REQUIRE(choice);
    CHECK(choice->generation == kMany - 1);
  }
}

TEST_CASE("a relay does not send rows back to the peer that they came from") {
  Scene s(4, 8, 2, false);
  RelayPolicy relay(1);
  for (std::uint32_t i = 0; i < 5; ++i) {
    const auto v = codec::unit_vector(8, i);
    const PeerId& sender = i < 4 ? s.peer(1).id : s.peer(2).id;
    REQUIRE(
        s.holdings.insert(2, std::make_shared<const std::vector<std::uint8_t>>(v), {sender}, 0));
  }
  s.hold(3, 1, false);  // so that generation 2 is not the front
  // What it last told of its rank is behind what it has sent.
  s.tell(1, {{2, 1, 8, {}}, {3, 8, 0, {}}});
  s.tell(2, {{2, 8, 0, {}}, {3, 8, 0, {}}});
  for (const bool small : {true, false}) {
    const auto choice = s.choose(relay, small);
    REQUIRE(choice);  // the fifth row is news
    CHECK(choice->peer == 1);
    CHECK(choice->generation == 2);
  }
  s.peer(1).book_block(2, s.now);
  s.peer(1).block_departed(kBlockBytes, s.now);
  s.tell(1, {{2, 1, 8, {}}}, {}, 1);  // acknowledged, and it still says the same
  for (const bool small : {true, false}) CHECK_FALSE(s.choose(relay, small));
}
