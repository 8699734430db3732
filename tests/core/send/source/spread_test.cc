// Which rows of a source have come through to other peers of a large mesh.
#include "client/core/send/source/spread.h"

#include <string>
#include <vector>

#include "client/core/parts.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;

namespace {

using Bytes = std::vector<std::uint8_t>;

constexpr core::PeerKey kTaker = 1, kGiver = 2;              // were given rows
constexpr core::PeerKey kFirstReporter = 3, kReporters = 5;  // these tell
constexpr std::uint8_t kSpreadPeers = facts::kLargeMesh + 20;

// A source whose neighbours kTaker and kGiver have been given source blocks 0 and 1 of generation
// 0, for longer than they take to spread.
class Spreading {
 public:
  explicit Spreading(bool calls = true, core::PeerKey called = kSpreadPeers)
      : parts_(vouched_manifest(4, 4, 64).id, roomy(), kSecond) {
    for (std::uint8_t i = 1; i <= kSpreadPeers; ++i) {
      REQUIRE(parts_.membership.opened(
          i, peer_id(i), "192.0.2." + std::to_string(i), 4000,
          calls && i >= kFirstReporter && i < kFirstReporter + called ? i : 0, true));
    }
    parts_.start(vouched_manifest(4, 4, 64).info);
    give(kTaker, 0);
    give(kGiver, 1);
    parts_.context.now += facts::kSpread;
  }
  core::Spread& spread() { return parts_.transfer->spread; }
  core::Neighbour& neighbour(core::PeerKey key) { return *parts_.membership.find(key); }
  void give(core::PeerKey key, std::uint32_t source_index) {
    proto::Block block;
    block.source_index = source_index;
    spread().sent(block, neighbour(key));
  }
  void give(core::PeerKey key, Bytes vector) {
    proto::Block block;
    block.coefficients = std::move(vector);
    spread().sent(block, neighbour(key));
  }
  // As often as it takes to count.
  void tell(core::PeerKey by, const Bytes& z, std::uint32_t g = 0) {
    proto::State state;
    state.generations.push_back({.generation = g, .rank = 1, .quota = 1, .null_vector = z});
    for (std::uint32_t i = 0; i < 4 * facts::kEnoughToJudge; ++i)
      spread().told(neighbour(by), state);
  }
  void tell_complete(core::PeerKey by) {
    proto::State state;
    state.complete.push_back({0, 1});
    for (std::uint32_t i = 0; i < facts::kEnoughToJudge; ++i) spread().told(neighbour(by), state);
  }
  // `count` reporters from kFirstReporter on send z.
  void all_tell(const Bytes& z, core::PeerKey count = kReporters) {
    for (core::PeerKey by = kFirstReporter; by < kFirstReporter + count; ++by) tell(by, z);
  }
  std::optional<double> share(core::PeerKey key) { return spread().share(neighbour(key)); }
  bool review() {
    parts_.context.now += facts::kNextReport;
    return parts_.transfer->contributions.review().value();
  }

 private:
  core::Parts parts_;
};

}  // namespace

TEST_CASE("it says of which blocks it remembers the vector") {
  Spreading here;
  proto::Block block;
  block.coefficients = {1, 2, 3, 4};
  core::Neighbour& fresh = here.neighbour(kFirstReporter);
  CHECK(here.spread().sent(block, fresh));
  CHECK_FALSE(here.spread().sent(block, fresh));  // too soon after the other
}

TEST_CASE("a null vector tells whose rows have not come through") {
  Spreading swarm;
  CHECK_FALSE(swarm.share(kTaker));
  swarm.all_tell({7, 0, 3, 0});  // lacks block 0, has block 1
  CHECK(swarm.share(kTaker) == 0.0);
  CHECK(swarm.share(kGiver) == 1.0);
  CHECK(swarm.review());
  CHECK(swarm.neighbour(kTaker).sink());
  CHECK(swarm.neighbour(kGiver).worth == 1);
  CHECK_FALSE(swarm.review());  // it was known
}

TEST_CASE("a combination has come through where it is orthogonal to what is lacking") {
  Spreading swarm;
  swarm.give(10, {1, 1, 0, 0});
  swarm.give(11, {0, 0, 1, 1});
  swarm.all_tell({5, 5, 9, 0});  // too young to be judged
  CHECK_FALSE(swarm.share(10));
  Spreading later;
  later.give(10, {1, 1, 0, 0});
  later.give(11, {0, 0, 1, 1});
  later.review();
  later.review();
  later.all_tell({5, 5, 9, 0});
  CHECK(later.share(10) == 1.0);  // 5 + 5 = 0 in GF(2^8)
  CHECK(later.share(11) == 0.0);
}

TEST_CASE("a peer that has verified a generation has all of its rows") {
  Spreading swarm;
  for (core::PeerKey by = kFirstReporter; by < kFirstReporter + kReporters; ++by)
    swarm.tell_complete(by);
  CHECK(swarm.share(kTaker) == 1.0);
  CHECK(swarm.share(kGiver) == 1.0);
}

TEST_CASE("a peer that says again that it has a generation says nothing new") {
  Spreading swarm;
  proto::State state;
  state.complete.push_back({0, 1});
  for (core::PeerKey by = kFirstReporter; by < kFirstReporter + kReporters; ++by) {
    REQUIRE(swarm.neighbour(by).apply_state(proto::State(state)));
    swarm.tell_complete(by);
  }
  CHECK_FALSE(swarm.share(kTaker));
}

TEST_CASE("of rows that were given long ago a whole generation says nothing") {
  Spreading swarm;
  for (TimeUs passed = 0; passed <= facts::kGivenLongAgo; passed += facts::kNextReport) {
    swarm.review();
    swarm.give(kGiver, 2);
  }
  for (core::PeerKey by = kFirstReporter; by < kFirstReporter + kReporters; ++by)
    swarm.tell_complete(by);
  CHECK_FALSE(swarm.share(kTaker));  // others were given the same in its place
  CHECK(swarm.share(kGiver) == 1.0);
}

TEST_CASE("what says nothing is ignored") {
  Spreading swarm;
  swarm.all_tell({0, 0, 0, 0});
  swarm.all_tell({});
  CHECK_FALSE(swarm.share(kTaker));
  swarm.all_tell({1, 0, 0, 0}, 2);  // too few
  CHECK_FALSE(swarm.share(kTaker));
  swarm.tell(kTaker, {1, 0, 0, 0});  // of its own rows nobody is asked
  CHECK_FALSE(swarm.share(kTaker));
}

// A peer that lacks mixtures of all that is on its way to it does not hold a single row by itself.
TEST_CASE("a null vector that lets less than an eighth through says nothing of anybody") {
  for (const core::PeerKey rows : {8, 9}) {
    Spreading swarm;
    swarm.give(10, 2);
    for (core::PeerKey to = 11; to < 8 + rows; ++to) swarm.give(to, {1, 1, 1, 1});
    swarm.review();
    swarm.review();
    swarm.all_tell({7, 1, 0, 2});  // lets block 2 through alone
    CHECK(swarm.share(kTaker).has_value() == (rows == 8));
    CHECK(swarm.share(10).has_value() == (rows == 8));
    swarm.all_tell({7, 0, 0, 2});
    CHECK(swarm.share(kTaker) == 0.0);
    CHECK(swarm.share(10) == 1.0);
  }
}

TEST_CASE("a null vector that lets nothing through says nothing") {
  Spreading swarm;
  swarm.all_tell({7, 1, 3, 2});
  CHECK_FALSE(swarm.share(kTaker));
}

TEST_CASE("fewer than two fifths achieve nothing by lies, nor do those of low worth") {
  Spreading swarm;
  swarm.all_tell({1, 0, 0, 0}, 5);               // true
  swarm.tell(kFirstReporter + 5, {0, 1, 0, 0});  // praises the taker, accuses the giver
  swarm.tell(kFirstReporter + 6, {0, 1, 0, 0});
  CHECK(swarm.share(kTaker) == 0.0);
  CHECK(swarm.share(kGiver) == 1.0);
  for (core::PeerKey by = kFirstReporter + 7; by < kFirstReporter + 12; ++by) {
    swarm.neighbour(by).worth = facts::kLowWorth;
    swarm.tell(by, {0, 1, 0, 0});
  }
  CHECK(swarm.share(kTaker) == 0.0);
  CHECK(swarm.share(kGiver) == 1.0);
}

TEST_CASE("neighbours that this peer has called are asked first") {
  Spreading swarm(false);
  swarm.all_tell({1, 0, 0, 0});
  CHECK(swarm.share(kTaker) == 0.0);  // none was called: all are asked
  Spreading both(true, 3);            // three of them
  both.all_tell({1, 0, 0, 0}, 3);
  for (core::PeerKey by = kFirstReporter + 3; by < kFirstReporter + 12; ++by)
    both.tell(by, {0, 1, 0, 0});
  CHECK(both.share(kTaker) == 0.0);
}

TEST_CASE("a reporter that leaves is forgotten") {
  Spreading swarm;
  swarm.all_tell({1, 0, 0, 0}, 3);
  REQUIRE(swarm.share(kTaker));
  swarm.spread().neighbour_left(swarm.neighbour(kFirstReporter));
  CHECK_FALSE(swarm.share(kTaker));
}
