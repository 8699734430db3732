// When a source may leave.
#include "client/core/send/departure.h"

#include <doctest/doctest.h>

#include "codec/encode.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Departure;
using core::Neighbour;
using core::Neighbours;

namespace {

constexpr std::uint32_t kBlocksEach = 4;

Shape shape_of(std::uint32_t generations) {
  return Shape{kBlocksEach, 10, std::uint64_t{generations} * kBlocksEach * 10};
}

struct Swarm {
  explicit Swarm(std::uint32_t generations, std::uint32_t peers)
      : departure(shape_of(generations)) {
    for (core::PeerKey key = 1; key <= peers; ++key) {
      auto one = std::make_unique<Neighbour>(key, peer_id(static_cast<std::uint8_t>(key)),
                                             "192.0.2.1", std::uint16_t{1}, false, 0);
      one->holds.set_shape(shape_of(generations));
      neighbours.add(std::move(one));
      say(key, {});
    }
  }
  void say(core::PeerKey key, std::vector<proto::GenerationState> ranks,
           std::vector<proto::Span> complete = {}) {
    proto::State state;
    state.generations = std::move(ranks);
    state.complete = std::move(complete);
    REQUIRE(neighbours.at(key).apply_state(std::move(state)));
  }
  bool safe() { return departure.safe(neighbours); }

  Departure departure;
  Neighbours neighbours;
};

}  // namespace

TEST_CASE("a source may leave once its rows have full rank at those who acknowledged them") {
  Swarm s(1, 2);
  CHECK_FALSE(s.safe());
  for (std::uint32_t i = 0; i < kBlocksEach; ++i) s.departure.sent(1 + i % 2, 1 + i / 2, 0, i, {});
  s.departure.acknowledged(1, 2);
  s.say(1, {{0, 2, 4, {}}});
  CHECK_FALSE(s.safe());
  s.departure.acknowledged(2, 1);
  s.say(2, {{0, 1, 4, {}}});
  CHECK_FALSE(s.safe());
  s.departure.acknowledged(2, 2);
  s.say(2, {{0, 2, 4, {}}});
  CHECK(s.safe());
}

TEST_CASE("equal rows at two neighbours prove no more than one of them") {
  Swarm s(1, 2);
  for (core::PeerKey key = 1; key <= 2; ++key) {
    for (std::uint32_t i = 0; i < 2; ++i) s.departure.sent(key, 1 + i, 0, i, {});
    s.departure.acknowledged(key, 2);
    s.say(key, {{0, 2, 4, {}}});
  }
  CHECK_FALSE(s.safe());  // four rows, of rank two
  s.departure.sent(1, 3, 0, std::nullopt, {1, 1, 1, 1});
  s.departure.sent(1, 4, 0, std::nullopt, {1, 1, 1, 2});
  s.departure.acknowledged(1, 4);
  s.say(1, {{0, 4, 4, {}}});
  CHECK(s.safe());
}

TEST_CASE("of rows that are never acknowledged the latest few thousand may still prove something") {
  Swarm s(1, 1);
  std::uint32_t last = 0;
  for (; last < 10'000; ++last) s.departure.sent(1, last + 1, 0, last % kBlocksEach, {});
  s.departure.acknowledged(1, last - 4096);
  s.say(1, {{0, kBlocksEach, 4, {}}});
  CHECK_FALSE(s.safe());
  s.departure.acknowledged(1, last);
  CHECK(s.safe());
}

TEST_CASE("a neighbour's word that it has a generation is enough, until it goes") {
  Swarm s(2, 2);
  s.say(1, {}, {{0, 1}});
  s.say(2, {}, {{1, 1}});
  CHECK(s.safe());
  s.neighbours.erase(2);
  s.departure.gone(2);
  CHECK_FALSE(s.safe());
}

TEST_CASE("who goes, and who has thrown rows away, proves nothing") {
  Swarm s(1, 2);
  for (std::uint32_t i = 0; i < kBlocksEach; ++i) s.departure.sent(1, 1 + i, 0, i, {});
  s.departure.acknowledged(1, kBlocksEach);
  s.say(1, {{0, kBlocksEach - 1, 4, {}}});
  CHECK_FALSE(s.safe());  // it holds less than it got
  s.say(1, {{0, kBlocksEach, 4, {}}});
  CHECK(s.safe());
  s.neighbours.erase(1);
  s.departure.gone(1);
  CHECK_FALSE(s.safe());
}

TEST_CASE("blocks that could not be made were never there") {
  Swarm s(1, 1);
  for (std::uint32_t i = 0; i < kBlocksEach; ++i) s.departure.sent(1, 1 + i, 0, i, {});
  s.departure.failed(1, 2);
  s.departure.acknowledged(1, kBlocksEach);
  s.say(1, {{0, kBlocksEach - 1, 4, {}}});
  CHECK_FALSE(s.safe());
}
