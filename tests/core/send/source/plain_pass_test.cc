// What a source sends to neighbours that fetch all generations plainly, and which blocks a receiver
// asks which neighbour for.
#include <algorithm>
#include <set>

#include "client/core/send/source/plain_pass.h"
#include "client/core/trust/plain_shares.h"
#include "tests/core/facts.h"
#include "tests/core/send/choice/scene.h"

namespace plain_pass_test {

using namespace firn;
using namespace firn::test;
using namespace firn::core;
using core::policy::PlainPass;
using core::trust::PlainShares;

namespace {

constexpr std::uint32_t kN = 8;

proto::GenerationState plain(std::uint32_t g, std::uint8_t held, std::uint8_t wanted) {
  proto::GenerationState entry;
  entry.generation = g;
  entry.quota = 4;
  entry.wanted_blocks = {wanted};
  entry.held_blocks = {held};
  return entry;
}

std::vector<std::uint32_t> all_blocks() {
  return {0, 1, 2, 3, 4, 5, 6, 7};
}

}  // namespace

TEST_CASE("a block is asked of one of those that hold it, of another one in turn") {
  Scene scene(1, kN, 6, false);
  PlainShares shares(scene.holdings.shape());
  for (PeerKey peer = 1; peer <= 5; ++peer) scene.tell(peer, {plain(0, 0xff, 0)});
  std::set<PeerKey> asked_for_0;
  for (TimeUs now = 0; now < 40 * facts::kNextTurn; now += facts::kNextTurn) {
    std::vector<std::uint32_t> asked;
    for (PeerKey peer = 1; peer <= 6; ++peer) {
      const auto share = shares.of(scene.neighbours, scene.peer(peer), 0, all_blocks(), now);
      asked.insert(asked.end(), share.begin(), share.end());
      if (std::find(share.begin(), share.end(), 0) != share.end()) asked_for_0.insert(peer);
    }
    std::sort(asked.begin(), asked.end());
    CHECK(asked == all_blocks());
  }
  CHECK(asked_for_0 == std::set<PeerKey>{1, 2, 3, 4, 5});
}

TEST_CASE("a suspect is asked for a single block where others hold some, and counts for nothing") {
  Scene scene(1, kN, 3, false);
  PlainShares shares(scene.holdings.shape());
  scene.tell(1, {plain(0, 0xff, 0)});
  scene.peer(1).regard_as(Regard::kSuspect, true);  // and none of its rows was shown to be true
  scene.tell(2, {plain(0, 0x0f, 0xf0)});
  CHECK(shares.of(scene.neighbours, scene.peer(1), 0, all_blocks(), 0).size() == 1);
  const auto share = shares.of(scene.neighbours, scene.peer(2), 0, all_blocks(), 0);
  for (std::uint32_t i = 0; i < 4; ++i)
    CHECK(std::find(share.begin(), share.end(), i) != share.end());
}

TEST_CASE("a neighbour that has sent nothing for long is asked for blocks as others are") {
  Scene scene(1, kN, 2, false);
  PlainShares shares(scene.holdings.shape());
  for (PeerKey peer = 1; peer <= 2; ++peer) scene.tell(peer, {plain(0, 0xff, 0)});
  scene.peer(1).grants.grant(4, 0);
  std::size_t asked = 0, turns = 0;
  for (TimeUs now = 10 * kSecond; turns < 20; now += facts::kNextTurn, ++turns) {
    REQUIRE(scene.peer(1).grants.stalled(now));
    asked += shares.of(scene.neighbours, scene.peer(1), 0, all_blocks(), now).size();
  }
  CHECK(asked > turns * kN / 4);
  CHECK(asked < turns * kN * 3 / 4);
}

TEST_CASE("what nobody fetching holds is asked of all that hold the generation in whole") {
  Scene scene(1, kN, 2, false);
  PlainShares shares(scene.holdings.shape());
  scene.tell(1, {}, {{0, 1}});
  CHECK(shares.of(scene.neighbours, scene.peer(1), 0, all_blocks(), 0) == all_blocks());
}

TEST_CASE("a source sends each block once, and again where too few say that they hold it") {
  Scene scene(1, kN, 3, true);
  for (PeerKey peer = 1; peer <= 3; ++peer) scene.tell(peer, {plain(0, 0, 0xff)});
  PlainPass pass(scene.holdings.shape());
  policy::FirstPass first(scene.holdings.shape());
  for (const Neighbour& n : std::as_const(scene.neighbours)) pass.told(n);
  for (std::uint32_t i = 0; i < kN; ++i) {
    REQUIRE(pass.due(scene.peer(2), 0) == i);
    CHECK(pass.sent(0, i, 1, 0));
    CHECK_FALSE(pass.sent(0, i, 1, 0));
  }
  CHECK_FALSE(pass.due(scene.peer(2), 0).has_value());
  scene.tell(1, {plain(0, 0xff, 0)});
  scene.tell(3, {plain(0, 0xef, 0x10)});
  pass.review(scene.neighbours, 0, facts::kBlockLost - kSecond);
  CHECK_FALSE(pass.lost(scene.peer(2), first).has_value());
  pass.review(scene.neighbours, 0, facts::kBlockLost);
  CHECK(pass.lost(scene.peer(2), first) == 0);
  CHECK(pass.due(scene.peer(2), 0) == 4);
  CHECK_FALSE(pass.lost(scene.peer(1), first).has_value());  // it does not ask
}

TEST_CASE("a source sends what it never sent although coded blocks have made its pass whole") {
  Scene scene(1, kN, 2, true);
  for (PeerKey peer = 1; peer <= 2; ++peer) scene.tell(peer, {plain(0, 0, 0xff)});
  PlainPass pass(scene.holdings.shape());
  policy::FirstPass first(scene.holdings.shape());
  for (std::uint32_t i = 0; i + 1 < kN; ++i) {
    pass.sent(0, i, 1, 0);
    first.served(1, 0);
  }
  CHECK_FALSE(pass.lost(scene.peer(2), first).has_value());
  first.served(2, 0);
  CHECK(pass.lost(scene.peer(2), first) == 0);
  CHECK(pass.due(scene.peer(2), 0) == kN - 1);
}

TEST_CASE("a source sends all of a generation that it has passed with coded blocks alone") {
  Scene scene(2, kN, 2, true);
  scene.tell(2, {plain(0, 0, 0xff), plain(1, 0, 0xff)});
  PlainPass pass(scene.holdings.shape());
  policy::FirstPass first(scene.holdings.shape());
  for (std::uint32_t i = 0; i < kN; ++i) first.served(1, 0);
  CHECK(pass.lost(scene.peer(2), first) == 0);
  for (std::uint32_t i = 0; i < kN; ++i) pass.sent(0, i, 2, 0);
  CHECK_FALSE(pass.lost(scene.peer(2), first).has_value());
}

// However many a neighbour names, a review looks at one generation, and is not due at once.
TEST_CASE("a source looks for lost blocks in one generation at a time") {
  constexpr std::uint32_t kGenerations = 4;
  Scene scene(kGenerations, kN, 3, true);
  PlainPass pass(scene.holdings.shape());
  policy::FirstPass first(scene.holdings.shape());
  std::vector<proto::GenerationState> entries;
  for (std::uint32_t g = 0; g < kGenerations; ++g) entries.push_back(plain(g, 0, 0xff));
  for (PeerKey peer = 1; peer <= 3; ++peer) scene.tell(peer, entries);
  for (const Neighbour& n : std::as_const(scene.neighbours)) pass.told(n);
  for (std::uint32_t g = 0; g < kGenerations; ++g)
    for (std::uint32_t i = 0; i < kN; ++i) pass.sent(g, i, 1, 0);
  const auto lost = [&] {
    std::uint32_t generations = 0;
    for (std::uint32_t g = 0; g < kGenerations; ++g)
      generations += pass.due(scene.peer(2), g).has_value();
    return generations;
  };
  TimeUs now = facts::kBlockLost;
  for (std::uint32_t looked = 1; looked <= kGenerations; ++looked) {
    pass.review(scene.neighbours, 0, now);
    pass.review(scene.neighbours, 0, now + facts::kNextLook / 2);
    CHECK(lost() == looked);
    now += facts::kNextLook + kMillisecond;
  }
}

TEST_CASE("where blocks take long a source waits longer before it takes them for lost") {
  for (const double kib_per_second : {1000.0, 1.0}) {
    CAPTURE(kib_per_second);
    Scene scene(1, kN, 3, true);  // blocks of 100 bytes: 24 of them take 2.3 s at 1 KiB/s
    PlainPass pass(scene.holdings.shape());
    for (PeerKey peer = 1; peer <= 3; ++peer) scene.tell(peer, {plain(0, 0, 0xff)});
    for (const Neighbour& n : std::as_const(scene.neighbours)) pass.told(n);
    for (std::uint32_t i = 0; i < kN; ++i) pass.sent(0, i, 1, 0);
    const double slow = kib_per_second / 4;
    pass.review(scene.neighbours, slow, facts::kBlockLost);
    CHECK(pass.due(scene.peer(2), 0).has_value() == (kib_per_second > 1));
  }
}

TEST_CASE("a suspect is asked for nothing that it says it does not hold") {
  Scene scene(1, kN, 3, false);
  PlainShares shares(scene.holdings.shape());
  scene.tell(1, {plain(0, 0x10, 0)});
  scene.peer(1).regard_as(Regard::kSuspect, true);
  scene.tell(2, {plain(0, 0xff, 0)});
  for (TimeUs now = 0; now < 20 * facts::kNextTurn; now += facts::kNextTurn)
    CHECK(shares.of(scene.neighbours, scene.peer(1), 0, all_blocks(), now) ==
          std::vector<std::uint32_t>{4});
}

TEST_CASE("in a small mesh a source sends what is asked for by chance, and repeats nothing") {
  Scene scene(1, kN, 2, true);
  for (PeerKey peer = 1; peer <= 2; ++peer) scene.tell(peer, {plain(0, 0, 0xff)});
  for (const bool small_mesh : {false, true}) {
    CAPTURE(small_mesh);
    policy::SourcePolicy policy(scene.holdings.shape(), false);
    for (const Neighbour& n : std::as_const(scene.neighbours)) policy.told(n);
    const auto choice = policy.choose(scene.holdings, scene.neighbours, small_mesh, {0, kBusy}, 0);
    REQUIRE(choice.has_value());
    CHECK(choice->plain);
    CHECK(choice->source_index.has_value() == !small_mesh);
  }
}

}  // namespace plain_pass_test
