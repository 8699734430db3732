// Which rows a source sends again because the swarm lacks them.
#include "client/core/send/source/lost_rows.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "codec/random.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Neighbour;
using core::Neighbours;
using core::policy::LostRows;
using facts::kNextLostRowsReview;
using facts::kStandsStill;

namespace {

constexpr std::uint32_t kGenerations = 6;
constexpr std::uint32_t kSize = 8;

const Shape kShape{kSize, 10, std::uint64_t{kGenerations} * kSize * 10};

// Two neighbours; the source is in its first pass and has sent generations 0 to 3 in whole.
struct LossScene {
  LossScene() {
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
      now += kNextLostRowsReview;
      lost.review(neighbours, 4, first_pass, now);
    }
    for (const LostRows::Loss& loss : lost.losses()) {
      if (loss.generation == g) return loss.rows;
    }
    return 0;
  }
  Neighbours neighbours;
  LostRows lost{kShape};
  TimeUs now = kSecond;
};

}  // namespace

TEST_CASE("a generation that stands still while a later one is whole gets the rows it lacks") {
  LossScene s;
  s.tell(1, {{0, 5, 4, {}}, {1, 6, 4, {}}, {2, 3, 4, {}}, {3, 1, 4, {}}});
  s.tell(2, {{0, 4, 4, {}}, {1, 7, 4, {}}}, {{2, 1}});
  CHECK(s.rows_of(1, kStandsStill) == 0);  // it may have grown just before the first review
  CHECK(s.rows_of(1, kNextLostRowsReview) == 1);
  CHECK(s.rows_of(0, kNextLostRowsReview) == 3);
  CHECK(s.rows_of(2, kNextLostRowsReview) == 0);  // a neighbour can give it to the others
  CHECK(s.rows_of(3, kStandsStill) == 0);         // relays may not have come to it yet
  REQUIRE(s.lost.losses().size() == 2);
  CHECK(s.lost.losses()[0].generation == 0);
}

TEST_CASE("what a neighbour holds that passes nothing on is lacking elsewhere") {
  LossScene s;
  s.tell(1, {{0, 5, 4, {}}}, {{1, 1}});
  s.tell(2, {{0, 7, 4, {}}}, {{2, 1}});
  s.neighbours.at(2).worth = facts::kWorthOfSink;
  CHECK(s.rows_of(0, 2 * kStandsStill) == 3);
  s.neighbours.at(2).worth = 1;
  CHECK(s.rows_of(0, 2 * kStandsStill) == 1);
}

TEST_CASE("rows of a generation that nobody wants are not missing") {
  LossScene s;
  for (const core::PeerKey key : {1, 2}) {
    proto::State state;
    state.unwanted = {{0, 1}};
    REQUIRE(s.neighbours.at(key).apply_state(std::move(state)));
  }
  s.tell(1, {{1, 5, 4, {}}}, {{2, 1}});
  CHECK(s.rows_of(0, kStandsStill + kNextLostRowsReview) == 0);
  CHECK(s.rows_of(1, kNextLostRowsReview) == 3);
}

TEST_CASE("what is on its way is not missing, and a rank that grows gives time") {
  LossScene s;
  s.tell(1, {{0, 5, 4, {}}});
  s.tell(2, {}, {{1, 1}});
  CHECK(s.rows_of(0, kStandsStill + kNextLostRowsReview) == 3);
  s.neighbours.at(1).book_block(0, s.now);
  CHECK(s.rows_of(0, kNextLostRowsReview) == 2);
  s.tell(1, {{0, 6, 4, {}}});
  CHECK(s.rows_of(0, kStandsStill) == 0);
  CHECK(s.rows_of(0, kNextLostRowsReview) == 1);
}

TEST_CASE("lost rows are sent once, then have time to be told of") {
  LossScene s;
  s.tell(1, {{0, 6, 4, {}}});
  s.tell(2, {}, {{1, 1}});
  REQUIRE(s.rows_of(0, kStandsStill + kNextLostRowsReview) == 2);
  s.lost.served(0, s.now);
  CHECK(s.lost.losses()[0].rows == 1);
  s.lost.served(0, s.now);
  s.lost.served(0, s.now);
  CHECK(s.lost.losses()[0].rows == 0);
  CHECK(s.rows_of(0, kStandsStill - kNextLostRowsReview) == 0);
  CHECK(s.rows_of(0, kNextLostRowsReview) == 2);  // they have got lost as well
}

TEST_CASE("after the first pass whatever stands still gets its rows") {
  LossScene s;
  s.tell(1, {{3, 7, 4, {}}});
  CHECK(s.rows_of(3, 2 * kStandsStill) == 0);
  CHECK(s.rows_of(3, kNextLostRowsReview, false) == 1);
}

TEST_CASE("what was sent before a neighbour left without everything gets its rows") {
  LossScene s;
  s.tell(1, {{2, 7, 4, {}}, {3, 7, 4, {}}}, {{0, 1}});
  s.tell(2, {{0, 2, 4, {}}, {2, 5, 4, {}}});
  REQUIRE(s.rows_of(2, 2 * kStandsStill) == 0);
  s.neighbours.erase(1);
  s.lost.neighbour_lost(3);
  CHECK(s.rows_of(0, kStandsStill + kNextLostRowsReview) ==
        6);  // only the peer that left had it in whole
  CHECK(s.rows_of(2, kNextLostRowsReview) == 3);
  CHECK(s.rows_of(3, kNextLostRowsReview) == 0);  // sent since
}

namespace {

// LostRows::review by a look at each generation and each neighbour, of a source that is past its
// first pass.
class PlainLosses {
 public:
  explicit PlainLosses(const Shape& shape) : shape_(shape) {}

  std::vector<LostRows::Loss> review(const Neighbours& neighbours, std::uint32_t passed,
                                     TimeUs now) {
    while (from_ < passed && !stands_open(neighbours, from_)) watched_.erase(from_++);
    std::vector<LostRows::Loss> losses;
    for (std::uint32_t g = from_; g < std::min(passed, from_ + kAhead); ++g) {
      if (core::policy::somebody_has(neighbours, g)) watched_.erase(g);
      if (!stands_open(neighbours, g)) continue;
      std::uint32_t told = 0, expected = 0;
      for (const Neighbour& n : neighbours) {
        const core::RemoteGeneration* known = n.holds.partial().find(g);
        if (!known || n.sink()) continue;
        told = std::max<std::uint32_t>(told, known->rank);
        expected = std::max(expected, known->expected_rank());
      }
      auto& [rank, since] = watched_.try_emplace(g, told, now).first->second;
      if (told > rank) std::tie(rank, since) = std::pair(told, now);
      const std::uint32_t blocks = shape_.blocks_in(g);
      if (now - since >= kStandsStill && expected < blocks)
        losses.push_back({g, blocks - expected});
    }
    return losses;
  }

 private:
  static constexpr std::uint32_t kAhead = 64;  // of the first that is lacking
  static bool stands_open(const Neighbours& neighbours, std::uint32_t g) {
    return !core::policy::somebody_has(neighbours, g) &&
           std::any_of(neighbours.begin(), neighbours.end(),
                       [g](const Neighbour& n) { return n.holds.wants(g); });
  }
  Shape shape_;
  std::uint32_t from_ = 0;
  std::map<std::uint32_t, std::pair<std::uint32_t, TimeUs>> watched_;
};

}  // namespace

TEST_CASE(
    "lost rows are found as by a look at each generation of each neighbour, at a few looks at "
    "all") {
  constexpr std::uint32_t kMany = 300, kPeers = 6;
  const Shape shape{kSize, 10, std::uint64_t{kMany} * kSize * 10};
  std::size_t found = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    codec::CoefficientStream random(seed, 3);
    Neighbours neighbours;
    for (core::PeerKey key = 1; key <= kPeers; ++key) {
      auto one = std::make_unique<Neighbour>(key, peer_id(static_cast<std::uint8_t>(key)),
                                             "192.0.2.1", std::uint16_t{1}, false, 0);
      one->holds.set_shape(shape);
      if (key == kPeers) one->worth = 0;  // a sink
      neighbours.add(std::move(one));
    }
    LostRows lost(shape);
    PlainLosses plain(shape);
    TimeUs now = kSecond;
    for (int i = 0; i < 400; ++i) {
      Neighbour& n = neighbours.at(1 + random.below(kPeers));
      const std::uint32_t near = static_cast<std::uint32_t>(i) * 3 / 4;  // so far the swarm is
      proto::State state;
      const std::uint32_t g = std::min(near / 2 + random.below(80), kMany - 1);
      switch (random.below(8)) {
        case 0:
          state.complete = {{g, 1}};
          break;
        case 1:
          state.complete = {{0, 1 + near / 2}};
          break;
        case 2:
          if (n.holds.wants(near)) state.unwanted = {{near, 1}};
          break;
        default:
          if (n.holds.wants(g)) state.generations = {{g, random.below(kSize + 1), 8, {}}};
          break;
      }
      state.credit = 1000;
      state.acknowledged = n.pipe.next_sequence() - 1;
      REQUIRE(n.apply_state(std::move(state)));
      if (random.below(2) == 0 && n.holds.wants(g)) n.book_block(g, now);
      now += kNextLostRowsReview;
      const std::uint64_t walks = neighbours.walks();
      lost.review(neighbours, kMany, false, now);
      CHECK(neighbours.walks() - walks <= 2 + 1 + kMany / 64);
      const std::vector<LostRows::Loss> expected = plain.review(neighbours, kMany, now);
      REQUIRE(lost.losses().size() == expected.size());
      for (std::size_t at = 0; at < expected.size(); ++at) {
        REQUIRE(lost.losses()[at].generation == expected[at].generation);
        REQUIRE(lost.losses()[at].rows == expected[at].rows);
      }
      found += expected.size();
    }
  }
  CHECK(found > 1000);
}
