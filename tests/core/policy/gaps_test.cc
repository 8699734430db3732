// Which rows a source sends again because the swarm lacks them.
#include "client/core/policy/gaps.h"

#include <doctest/doctest.h>

#include "client/core/policy/constants.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Neighbour;
using core::Neighbours;
using core::policy::Gaps;
using core::policy::kGapReview;
using core::policy::kStallTime;

namespace {

constexpr std::uint32_t kGenerations = 6;
constexpr std::uint32_t kSize = 8;

const Shape kShape{kSize, 10, std::uint64_t{kGenerations} * kSize * 10};

// Two neighbours; the source is in its first pass and has sent generations 0 to 3 in whole.
struct GapScene {
  GapScene() {
    for (core::PeerKey key = 1; key <= 2; ++key) {
      auto one = std::make_unique<Neighbour>(key, peer_id(static_cast<std::uint8_t>(key)),
                                             "192.0.2.1", std::uint16_t{1}, false, 0);
      one->holds.set_shape(kShape);
      neighbours.add(std::move(one));
    }
  }
  void tell(core::PeerKey key, std::vector<proto::GenerationState> ranks,
            std::vector<proto::Span> complete = {}) {
    proto::State state;
    state.generations = std::move(ranks);
    state.complete = std::move(complete);
    REQUIRE(neighbours.at(key).apply_state(std::move(state)));
  }
  // Time goes by with reviews in it. Rows wanted of g at its end.
  std::uint32_t rows_of(std::uint32_t g, TimeUs passes, bool first_pass = true) {
    for (const TimeUs end = now + passes; now < end;) {
      now += kGapReview;
      gaps.review(neighbours, 4, first_pass, now);
    }
    for (const Gaps::Gap& gap : gaps.gaps()) {
      if (gap.generation == g) return gap.rows;
    }
    return 0;
  }
  Neighbours neighbours;
  Gaps gaps{kShape};
  TimeUs now = kSecond;
};

}  // namespace

TEST_CASE("a generation that stands still while a later one is whole gets the rows it lacks") {
  GapScene s;
  s.tell(1, {{0, 5, 4, {}}, {1, 6, 4, {}}, {2, 3, 4, {}}, {3, 1, 4, {}}});
  s.tell(2, {{0, 4, 4, {}}, {1, 7, 4, {}}}, {{2, 1}});
  CHECK(s.rows_of(1, kStallTime) == 0);  // it may have grown just before the first review
  CHECK(s.rows_of(1, kGapReview) == 1);
  CHECK(s.rows_of(0, kGapReview) == 3);
  CHECK(s.rows_of(2, kGapReview) == 0);  // a neighbour can give it to the others
  CHECK(s.rows_of(3, kStallTime) == 0);  // relays may not have come to it yet
  REQUIRE(s.gaps.gaps().size() == 2);
  CHECK(s.gaps.gaps()[0].generation == 0);
}

TEST_CASE("what a neighbour holds that passes nothing on is lacking elsewhere") {
  GapScene s;
  s.tell(1, {{0, 5, 4, {}}}, {{1, 1}});
  s.tell(2, {{0, 7, 4, {}}}, {{2, 1}});
  s.neighbours.at(2).worth = core::policy::kWorthMin;
  CHECK(s.rows_of(0, 2 * kStallTime) == 3);
  s.neighbours.at(2).worth = 1;
  CHECK(s.rows_of(0, 2 * kStallTime) == 1);
}

TEST_CASE("rows of a generation that nobody wants are not missing") {
  GapScene s;
  for (const core::PeerKey key : {1, 2}) {
    proto::State state;
    state.unwanted = {{0, 1}};
    REQUIRE(s.neighbours.at(key).apply_state(std::move(state)));
  }
  s.tell(1, {{1, 5, 4, {}}}, {{2, 1}});
  CHECK(s.rows_of(0, kStallTime + kGapReview) == 0);
  CHECK(s.rows_of(1, kGapReview) == 3);
}

TEST_CASE("what is on its way is not missing, and a rank that grows gives time") {
  GapScene s;
  s.tell(1, {{0, 5, 4, {}}});
  s.tell(2, {}, {{1, 1}});
  CHECK(s.rows_of(0, kStallTime + kGapReview) == 3);
  s.neighbours.at(1).book_block(0, s.now);
  CHECK(s.rows_of(0, kGapReview) == 2);
  s.tell(1, {{0, 6, 4, {}}});
  CHECK(s.rows_of(0, kStallTime) == 0);
  CHECK(s.rows_of(0, kGapReview) == 1);
}

TEST_CASE("rows for a gap are sent once, then have time to be told of") {
  GapScene s;
  s.tell(1, {{0, 6, 4, {}}});
  s.tell(2, {}, {{1, 1}});
  REQUIRE(s.rows_of(0, kStallTime + kGapReview) == 2);
  s.gaps.served(0, s.now);
  CHECK(s.gaps.gaps()[0].rows == 1);
  s.gaps.served(0, s.now);
  s.gaps.served(0, s.now);
  CHECK(s.gaps.gaps()[0].rows == 0);
  CHECK(s.rows_of(0, kStallTime - kGapReview) == 0);
  CHECK(s.rows_of(0, kGapReview) == 2);  // they have got lost as well
}

TEST_CASE("after the first pass whatever stands still gets its rows") {
  GapScene s;
  s.tell(1, {{3, 7, 4, {}}});
  CHECK(s.rows_of(3, 2 * kStallTime) == 0);
  CHECK(s.rows_of(3, kGapReview, false) == 1);
}

TEST_CASE("what was sent before a neighbour left without everything gets its rows") {
  GapScene s;
  s.tell(1, {{2, 7, 4, {}}, {3, 7, 4, {}}}, {{0, 1}});
  s.tell(2, {{0, 2, 4, {}}, {2, 5, 4, {}}});
  REQUIRE(s.rows_of(2, 2 * kStallTime) == 0);
  s.neighbours.erase(1);
  s.gaps.neighbour_lost(3);
  CHECK(s.rows_of(0, kStallTime + kGapReview) == 6);  // only the peer that left had it in whole
  CHECK(s.rows_of(2, kGapReview) == 3);
  CHECK(s.rows_of(3, kGapReview) == 0);  // sent since
}
