// What a relay remembers of generations that it has looked at in vain for a neighbour.
#include "client/core/send/choice/prospects.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <vector>

#include "client/core/rows/recent_changes.h"
#include "codec/random.h"
#include "tests/core/send/choice/scene.h"

using namespace firn;
using namespace firn::test;
using core::RecentChanges;
using core::policy::RelayPolicy;

namespace {

constexpr std::uint32_t kHistoryGenerations = 30, kHistoryRows = 6, kHistoryPeers = 4;

// A peer with four neighbours to which anything happens.
class RelayHistory {
 public:
  explicit RelayHistory(std::uint64_t seed)
      : scene(kHistoryGenerations, kHistoryRows, kHistoryPeers, false), random_(seed, 5) {}

  void step() {
    scene.now += random_.below(40) * 1000;
    const std::uint32_t g = random_.below(kHistoryGenerations), what = random_.below(16);
    if (what < 8) {
      insert(g);
    } else if (what < 12) {
      tell(1 + random_.below(kHistoryPeers), g);
    } else if (what == 12) {
      if (scene.holdings.rank(g) == kHistoryRows) scene.holdings.set_verified(g);
    } else if (what == 13) {
      lose(g);
    } else if (what == 14) {
      judge(g);
    } else if (random_.below(8) == 0) {
      scene.holdings.doubt_all(random_.below(2) == 0);
    }
  }

  Scene scene;

 private:
  void insert(std::uint32_t g) {
    std::vector<std::uint8_t> vector(kHistoryRows);
    for (std::uint8_t& c : vector) c = static_cast<std::uint8_t>(random_.below(256));
    core::Holdings::Origin origin{
        peer_id(static_cast<std::uint8_t>(1 + random_.below(kHistoryPeers + 2))),
        random_.below(2) == 0};
    if (random_.below(2) == 0) {
      origin.source_block = random_.below(kHistoryRows);
      vector = codec::unit_vector(kHistoryRows, origin.source_block);
    }
    scene.holdings.insert(g, std::make_shared<const std::vector<std::uint8_t>>(std::move(vector)),
                          origin, scene.now);
  }
  void tell(core::PeerKey peer, std::uint32_t g) {
    proto::State state;
    const std::uint32_t sent = scene.peer(peer).pipe.next_sequence() - 1;
    state.acknowledged = std::max(acknowledged_[peer], random_.below(sent + 1));
    acknowledged_[peer] = state.acknowledged;
    state.credit = 100'000;
    state.proven_only = random_.below(8) == 0;
    state.trusted_only = random_.below(4) == 0;
    proto::GenerationState entry{g, random_.below(kHistoryRows), random_.below(4), {}};
    if (random_.below(4) == 0)
      entry.null_vector.assign(kHistoryRows, static_cast<std::uint8_t>(g + 1));
    if (random_.below(8) == 0) entry.wanted_blocks = {static_cast<std::uint8_t>(random_.below(64))};
    state.generations = {std::move(entry)};
    if (random_.below(3) == 0) state.complete = {{random_.below(kHistoryGenerations), 1}};
    if (random_.below(8) == 0) state.withdrawn = {{random_.below(kHistoryGenerations - 8), 8}};
    if (random_.below(20) == 0) state.unwanted = {{random_.below(kHistoryGenerations), 1}};
    REQUIRE(scene.peer(peer).apply_state(std::move(state)));
  }
  void lose(std::uint32_t g) {
    if (random_.below(2) == 0) {
      scene.holdings.reset(g);
      for (core::PeerKey peer = 1; peer <= kHistoryPeers; ++peer)
        scene.peer(peer).holds.rows_gone(g, nullptr);
      return;
    }
    const core::OpenGeneration* open = scene.holdings.find_open(g);
    if (!open || !open->vectors[0]) return;
    const std::vector<std::uint32_t> slots{0};
    scene.holdings.remove(g, slots);
    for (core::PeerKey peer = 1; peer <= kHistoryPeers; ++peer)
      scene.peer(peer).holds.rows_gone(g, &slots);
  }
  void judge(std::uint32_t g) {
    const core::OpenGeneration* open = scene.holdings.find_open(g);
    if (!open || !open->vectors[0]) return;
    scene.holdings.mark(g, {0}, random_.below(2) == 0 ? core::Rows::kProven : core::Rows::kTrusted);
  }

  codec::CoefficientStream random_;
  std::map<core::PeerKey, std::uint32_t> acknowledged_;
};

}  // namespace

TEST_CASE("a relay that remembers chooses as one that looks at every generation each time") {
  for (const bool small_mesh : {true, false}) {
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(small_mesh);
      CAPTURE(seed);
      RelayHistory history(seed);
      RelayPolicy remembers(seed), looks(seed);
      int chosen = 0;
      for (int step = 0; step < 600; ++step) {
        CAPTURE(step);
        history.step();
        looks.look_again();
        const auto choice = history.scene.choose(remembers, small_mesh);
        const auto expected = history.scene.choose(looks, small_mesh);
        REQUIRE(choice.has_value() == expected.has_value());
        if (!choice) continue;
        REQUIRE(choice->peer == expected->peer);
        REQUIRE(choice->generation == expected->generation);
        REQUIRE(choice->use_null_vector == expected->use_null_vector);
        REQUIRE(choice->plain == expected->plain);
        history.scene.send(*choice);
        ++chosen;
      }
      CHECK(chosen > 50);
    }
  }
}

TEST_CASE(
    "each reader of recent changes gets those since its last, or hears that there were more") {
  RecentChanges changes(4);
  const RecentChanges::Position start = changes.end();
  std::vector<std::uint32_t> read;
  const auto reading = [&](std::uint32_t g) { read.push_back(g); };
  CHECK(changes.each_since(start, reading));
  CHECK(read.empty());
  for (const std::uint32_t g : {7u, 8u, 7u, 9u}) changes.add(g);
  CHECK(changes.each_since(start, reading));
  CHECK(read == std::vector<std::uint32_t>{7, 8, 7, 9});
  changes.add(5);
  read.clear();
  CHECK_FALSE(changes.each_since(start, reading));
  CHECK(read.empty());
  CHECK(changes.each_since(start + 1, reading));
  CHECK(read == std::vector<std::uint32_t>{8, 7, 9, 5});
  const RecentChanges::Position before = changes.end();
  changes.add_all();
  CHECK_FALSE(changes.each_since(before, reading));
  read.clear();
  const RecentChanges::Position after = changes.end();
  changes.add(3);
  CHECK(changes.each_since(after, reading));
  CHECK(read == std::vector<std::uint32_t>{3});
  CHECK_FALSE(changes.each_since(before, reading));
}
