// The generations of a content as a peer fills them.
#include "client/core/rows/generations.h"

#include <doctest/doctest.h>

#include <memory>

#include "codec/encode.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Generations;

namespace {

constexpr std::uint32_t kFew = 4;

Shape ten_generations() {
  return {kFew, 100, 10 * kFew * 100};
}

core::Vector unit(std::uint32_t i) {
  return std::make_shared<const std::vector<std::uint8_t>>(codec::unit_vector(kFew, i));
}

// Ten generations, and memory for four of them. What the memory would hold beside these is open
// already, before them: the content's generation at(g) is g of the ten.
class RoomForFour {
 public:
  RoomForFour() {
    for (std::uint32_t g = 0; g < before_; ++g)
      REQUIRE(generations.insert(g, unit(0), {peer_id(1), true}, 0));
  }
  std::uint32_t at(std::uint32_t g) const { return before_ + g; }
  std::vector<std::uint32_t> all(std::vector<std::uint32_t> generations) const {
    for (std::uint32_t& g : generations) g = at(g);
    return generations;
  }
  void open(std::uint32_t g, std::uint32_t row = 0) {
    REQUIRE(generations.insert(at(g), unit(row), {peer_id(1), true}, 0));
  }
  bool invites(std::uint32_t g, TimeUs now) { return generations.invites(at(g), now); }

 private:
  static constexpr std::uint64_t kMemory = 4096;
  static Shape shape(std::uint32_t generations) {
    return {kFew, 100, std::uint64_t{generations} * kFew * 100};
  }
  static std::uint32_t more_than_four() {
    Generations all(shape(100), kMemory);
    std::uint32_t open = 0;
    for (; all.accepts(open); ++open) REQUIRE(all.insert(open, unit(0), {peer_id(1), true}, 0));
    REQUIRE(open >= 4);
    return open - 4;
  }
  const std::uint32_t before_ = more_than_four();

 public:
  Generations generations{shape(before_ + 10), kMemory};
};

}  // namespace

TEST_CASE("rows of an earlier run are taken over, and full generations are named") {
  Generations generations(ten_generations(), 1 << 20);
  core::StartState state;
  state.verified = {true, false};
  for (std::uint32_t i = 0; i < kFew; ++i) state.rows.push_back({1, i, *unit(i), peer_id(1)});
  state.rows.push_back({0, 0, *unit(0), peer_id(1)});   // verified already
  state.rows.push_back({10, 0, *unit(0), peer_id(1)});  // no such generation
  state.rows.push_back({2, 0, {1, 2, 3}, peer_id(1)});  // a vector of wrong length
  state.rows.push_back({2, 1, *unit(0), peer_id(1)});
  CHECK(generations.restore(state, 0) == std::vector<std::uint32_t>{1});
  CHECK(generations.holdings().rank(2) == 1);
  CHECK_FALSE(generations.holdings().decoding(1));
  CHECK(generations.start_decode(1).size() == kFew);
  CHECK(generations.holdings().decoding(1));
  CHECK_FALSE(generations.holdings().decoding(99));
}

TEST_CASE("rows of an earlier run have the standing that they had then") {
  Generations generations(ten_generations(), 1 << 20);
  core::StartState state;
  state.verified.resize(10);
  using core::Standing;
  state.rows = {{1, 0, *unit(2), peer_id(1), Standing::kProven},
                {1, 1, *unit(1), peer_id(1), Standing::kAnswered},
                {1, 2, *unit(0), peer_id(2)},
                {1, 3, {1, 0, 0, 5}, peer_id(2), Standing::kProven}};
  CHECK(generations.restore(state, 0) == std::vector<std::uint32_t>{1});
  const core::OpenGeneration& open = *generations.holdings().find_open(1);
  CHECK(open.count(core::Rows::kProven) == 2);
  CHECK(open.rows_from(peer_id(1), core::Rows::kProven) == 1);
  CHECK(open.unproven() == std::vector<std::uint32_t>{1, 2});
  CHECK_FALSE(open.guilty());  // one is of another sender, which does not answer for its row
  // Those that are proven may be sent as the source blocks that they are.
  CHECK(open.source_block ==
        std::vector<std::uint32_t>{2, core::kCoded, core::kCoded, core::kCoded});
}

TEST_CASE("a generation turned away for want of memory is named once another is verified") {
  RoomForFour room;
  Generations& generations = room.generations;
  for (std::uint32_t g = 0; g < 4; ++g) {
    REQUIRE(generations.accepts(room.at(g)));
    room.open(g);
  }
  CHECK(generations.accepts(room.at(0)));  // open already
  CHECK_FALSE(generations.accepts(room.at(7)));
  CHECK_FALSE(generations.accepts(room.at(9)));
  CHECK(generations.verified(room.at(0), 0) == room.all({7}));  // room for one
  CHECK(generations.accepts(room.at(7)));
  room.open(7);
  CHECK(generations.verified(room.at(1), 0) == room.all({9}));
}

TEST_CASE("no more generations are named than there is memory for, and others in time") {
  const auto any = [](std::uint32_t) { return true; };
  RoomForFour room;
  Generations& generations = room.generations;
  for (const std::uint32_t g : {0u, 1u, 2u}) room.open(g);
  CHECK(room.invites(1, 0));
  CHECK(room.invites(5, 0));
  CHECK_FALSE(room.invites(6, 0));
  CHECK(room.invites(5, 0));               // once more
  CHECK(generations.accepts(room.at(6)));  // what comes first is taken
  CHECK_FALSE(generations.waiting().empty());
  CHECK(generations.next_waiting(any, 3, 0).empty());
  const TimeUs later = 100 * kSecond;
  CHECK(generations.next_waiting(any, 3, later) == room.all({6}));
  CHECK(room.invites(6, later));
  CHECK_FALSE(room.invites(5, later));
  CHECK(generations.next_waiting(any, 3, 2 * later) == room.all({5}));
  CHECK(generations.next_waiting(any, 3, 2 * later) == room.all({6}));
  CHECK(generations.next_waiting(any, 3, 2 * later) == room.all({5}));
  room.open(6);
  CHECK_FALSE(room.invites(5, 2 * later));
}

TEST_CASE("a generation that takes the last room shuts the next ones, which are named later") {
  RoomForFour room;
  Generations& generations = room.generations;
  for (const std::uint32_t g : {0u, 1u, 6u}) {
    room.open(g);
    CHECK(generations.shut_after(room.at(g)).empty());
  }
  room.open(3);
  CHECK(generations.shut_after(room.at(3)) == room.all({4, 5, 7, 8, 9}));
  room.open(3, 1);
  CHECK(generations.shut_after(room.at(3)).empty());  // once
  CHECK(generations.verified(room.at(0), 0) == room.all({4}));
}

TEST_CASE("what was given up is not named, nor what no neighbour offers") {
  RoomForFour room;
  Generations& generations = room.generations;
  for (const std::uint32_t g : {0u, 1u, 2u, 3u}) room.open(g);
  for (const std::uint32_t g : {5u, 6u, 7u}) CHECK_FALSE(room.invites(g, 0));
  generations.give_up(room.at(5));
  CHECK_FALSE(room.invites(5, 0));
  CHECK(generations.verified(room.at(0), 0) == room.all({6}));
  const auto seventh = [&](std::uint32_t g) { return g == room.at(7); };
  CHECK(generations.next_waiting(seventh, 3, 0) == room.all({7}));
  CHECK(generations.next_waiting([](std::uint32_t) { return false; }, 3, 0).empty());
  CHECK(generations.waiting() == std::set<std::uint32_t>{room.at(6), room.at(7)});
}

TEST_CASE("a false generation with one contributor convicts it, and its other rows are found") {
  Generations generations(ten_generations(), 1 << 20);
  for (std::uint32_t i = 0; i < kFew; ++i) {
    REQUIRE(generations.insert(3, unit(i), {peer_id(1), true}, 0));
  }
  REQUIRE(generations.full(3));
  REQUIRE(generations.insert(4, unit(0), {peer_id(1), true}, 0));
  REQUIRE(generations.insert(5, unit(0), {peer_id(2), true}, 0));
  generations.start_decode(3);
  CHECK(generations.holdings().find_open(3)->guilty() == peer_id(1));
  generations.lose(3);
  CHECK(generations.holdings().rank(3) == 0);
  const auto rows = generations.unproven_rows_of(peer_id(1));
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].generation == 4);
  CHECK(rows[0].slots == std::vector<std::uint32_t>{0});
}

TEST_CASE("lost generations are named in turn, those that nobody offers or that have rows not") {
  Generations generations(ten_generations(), 1 << 20);
  for (const std::uint32_t g : {1u, 3u, 5u, 7u}) generations.lose(g);
  CHECK_FALSE(generations.lost().empty());
  const auto offered = [](std::uint32_t g) { return g != 5; };
  CHECK(generations.next_lost(offered, 2) == std::vector<std::uint32_t>{1, 3});
  CHECK(generations.next_lost(offered, 2) == std::vector<std::uint32_t>{7, 1});
  REQUIRE(generations.insert(3, unit(0), {peer_id(1), true}, 0));
  generations.give_up(7);
  CHECK(generations.next_lost(offered, 4) == std::vector<std::uint32_t>{1});
}

TEST_CASE("what is read is opened whatever room there is, and others wait until there is room") {
  RoomForFour room;
  Generations& generations = room.generations;
  for (const std::uint32_t g : {0u, 1u, 2u, 3u}) room.open(g);
  CHECK_FALSE(room.invites(7, 0));
  generations.hurry({{room.at(7), proto::kAwaited}});
  CHECK(room.invites(7, 0));
  CHECK(generations.accepts(room.at(7)));
  CHECK_FALSE(room.invites(8, 0));
  room.open(7);
  generations.hurry({});
  CHECK(room.invites(7, 0));  // it is open now
  CHECK_FALSE(generations.accepts(room.at(8)));
  CHECK(generations.verified(room.at(0), 0).empty());  // there are four still
  CHECK(generations.verified(room.at(1), 0) == room.all({8}));
}

TEST_CASE("what is read no more before a row of it has come waits as others do") {
  RoomForFour room;
  Generations& generations = room.generations;
  for (const std::uint32_t g : {0u, 1u, 2u, 3u}) room.open(g);
  generations.hurry({{room.at(7), proto::kAwaited}});
  REQUIRE(room.invites(7, 0));
  CHECK(generations.hurry({}) == room.all({7}));
  CHECK_FALSE(room.invites(7, 0));
  CHECK(generations.verified(room.at(0), 0) == room.all({7}));
}

TEST_CASE("each choice of what is read replaces the one before, and concerns both") {
  Generations generations(ten_generations(), 1 << 20);
  using Concerned = std::vector<std::uint32_t>;
  CHECK(generations.hurry({{3, proto::kAwaited}, {4, proto::kReadSoon}}) == Concerned{3, 4});
  CHECK(generations.hurry({{4, proto::kAwaited}, {5, proto::kReadSoon}}) == Concerned{3, 4, 5});
  CHECK(generations.urgency(3) == proto::kNotUrgent);
  CHECK(generations.urgency(4) == proto::kAwaited);
  CHECK(generations.urgency(5) == proto::kReadSoon);
}

TEST_CASE("little is missing of what is read if its first wanted generation is nearly full") {
  constexpr std::uint32_t kSize = 32;
  Generations generations({kSize, 100, 10 * kSize * 100}, 1 << 20);
  const auto fill = [&](std::uint32_t g, std::uint32_t from, std::uint32_t to) {
    for (std::uint32_t i = from; i < to; ++i) {
      const auto row =
          std::make_shared<const std::vector<std::uint8_t>>(codec::unit_vector(kSize, i));
      REQUIRE(generations.insert(g, row, {peer_id(1), true}, 0));
    }
  };
  fill(3, 0, kSize / 2);
  fill(4, 0, kSize - 1);
  CHECK_FALSE(generations.reads_end());  // nothing is read
  generations.hurry({{3, proto::kAwaited}, {4, proto::kReadSoon}});
  CHECK_FALSE(generations.reads_end());
  fill(3, kSize / 2, kSize - 1);
  CHECK(generations.reads_end());
  generations.hurry({{2, proto::kAwaited}, {3, proto::kReadSoon}});
  CHECK_FALSE(generations.reads_end());
  generations.verified(2, 0);
  CHECK(generations.reads_end());
  generations.hurry({});
  CHECK_FALSE(generations.reads_end());
}
