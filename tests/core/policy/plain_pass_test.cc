// What a source sends to neighbours that fetch all generations plainly, and which blocks a receiver
// asks which neighbour for.
#include <algorithm>
#include <set>

#include "client/core/policy/plain_pass.h"
#include "client/core/policy/plain_shares.h"
#include "tests/core/policy/scene.h"

namespace plain_pass_test {

using namespace firn;
using namespace firn::test;
using namespace firn::core;
using core::policy::PlainPass;
using core::policy::PlainShares;

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
  for (TimeUs now = 0; now < 40 * policy::kPlainTurn; now += policy::kPlainTurn) {
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
  scene.peer(1).amid_polluters = true;  // and none of its rows was shown to be true
  scene.tell(2, {plain(0, 0x0f, 0xf0)});
  CHECK(shares.of(scene.neighbours, scene.peer(1), 0, all_blocks(), 0).size() == 1);
  const auto share = shares.of(scene.neighbours, scene.peer(2), 0, all_blocks(), 0);
  for (std::uint32_t i = 0; i < 4; ++i)
    CHECK(std::find(share.begin(), share.end(), i) != share.end());
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
  pass.review(scene.neighbours, 0, policy::kPlainLost - kSecond);
  CHECK_FALSE(pass.lost(scene.peer(2), first).has_value());
  pass.review(scene.neighbours, 0, policy::kPlainLost);
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

}  // namespace plain_pass_test
