// How a receiver divides the last rows of a generation among its neighbours.
#include "client/core/receive/holders.h"

#include <doctest/doctest.h>

#include <utility>

#include "codec/random.h"
#include "tests/core/facts.h"
#include "tests/core/receive/situation.h"

using namespace firn;
using namespace firn::test;

TEST_CASE("quotas near the end split what is missing among those that hold some") {
  codec::CoefficientStream random(3, 7);
  for (int run = 0; run < 500; ++run) {
    CAPTURE(run);
    const std::uint32_t peers = 2 + random.below(12), n = 64;
    Situation s(2, n, peers);
    const std::uint32_t missing = 1 + random.below(peers * 4 - 1);
    s.hold(0, n - missing, kNow);
    std::uint32_t holders = 0;
    for (core::PeerKey peer = 1; peer <= peers; ++peer) {
      const std::uint32_t rank = random.below(3) == 0 ? 0 : random.below(n + 1);
      s.claim(peer, 0, rank);
      holders += rank > 0 ? 1 : 0;
      s.neighbours.at(peer).grants.resize({100, 0});
    }
    std::uint32_t promised = 0;
    const std::uint32_t rotation = random.below(1000);
    for (const Neighbour& one : s.neighbours) {
      const std::uint32_t quota = quota_of(s.holdings, s.neighbours, one, 0, rotation, kNow);
      if (one.holds.rank(0) == 0) REQUIRE(quota == 0);
      promised += quota;
    }
    REQUIRE(promised == (holders == 0 ? 0 : missing));
  }
}

TEST_CASE("of what is missing most comes from a neighbour that is far faster than its equals") {
  for (const std::uint32_t peers : {9u, facts::kManyNeighbours}) {
    CAPTURE(peers);
    Situation s(2, 64, peers);
    for (core::PeerKey peer = 1; peer <= peers; ++peer) {
      s.claim(peer, 0, 64);
      Neighbour& one = s.neighbours.at(peer);
      one.grants.resize({100, 0});
      one.grants.grant(100, kNow);
      // 10 KB each, the third 1 MB.
      REQUIRE(one.book_arrival(1, peer == 3 ? 1'000'000 : 10'000, kNow));
    }
    s.hold(0, 59, kNow);
    std::uint32_t fast = 0;
    for (std::uint32_t turn = 0; turn < 20; ++turn) {
      const std::uint32_t rotation = turn * peers / 20;
      core::policy::Holders holders;
      std::uint32_t all = 0;
      for (const Neighbour& one : s.neighbours)
        all += core::policy::quota_of(s.holdings, s.neighbours, one, 0, {rotation}, holders, kNow);
      CHECK(all == 5);
      fast += core::policy::quota_of(s.holdings, s.neighbours, s.neighbours.at(3), 0, {rotation},
                                     holders, kNow);
    }
    // It counts for 64 of 72 that send, or of several hundred.
    CHECK(fast >= (peers == 9 ? 80 : 5));
    CHECK(fast < 100);
  }
}

TEST_CASE("a sender that has become slow is not fast because others were asked for nothing") {
  Situation s(2, 64, 5);
  for (core::PeerKey peer = 1; peer <= 5; ++peer) s.claim(peer, 0, 64);
  Neighbour& once = s.neighbours.at(3);
  once.grants.grant(4, kNow);
  REQUIRE(once.book_arrival(1, 1'000'000, kNow));
  s.hold(0, 59, kNow);
  CHECK(quota_of(s.holdings, s.neighbours, once, 0, 0, kNow) > 3);
  for (const TimeUs later : {1'500 * kMillisecond, 2 * kSecond, 2'900 * kMillisecond}) {
    CAPTURE(later);
    for (const Neighbour& one : s.neighbours)
      CHECK(quota_of(s.holdings, s.neighbours, one, 0, 0, kNow + later) == 1);
  }
}

TEST_CASE("a neighbour three times as fast as its equals has the part that they have") {
  Situation s(2, 64, 5);
  for (core::PeerKey peer = 1; peer <= 5; ++peer) {
    s.claim(peer, 0, 64);
    s.neighbours.at(peer).grants.grant(4, kNow);
    REQUIRE(s.neighbours.at(peer).book_arrival(1, peer == 3 ? 30'000 : 10'000, kNow));
  }
  s.hold(0, 59, kNow);
  for (const Neighbour& one : s.neighbours)
    CHECK(quota_of(s.holdings, s.neighbours, one, 0, 0, kNow) == 1);
}

TEST_CASE("a fast neighbour of lower rank gets no part of what those of higher rank are to send") {
  Situation s(2, 64, 4);
  for (core::PeerKey peer = 1; peer <= 4; ++peer) {
    s.claim(peer, 0, peer == 3 ? 30 : 64);
    s.neighbours.at(peer).grants.grant(4, kNow);
    REQUIRE(s.neighbours.at(peer).book_arrival(1, peer == 3 ? 1'000'000 : 10'000, kNow));
  }
  s.hold(0, 61, kNow);
  for (const Neighbour& one : s.neighbours)
    CHECK(quota_of(s.holdings, s.neighbours, one, 0, 0, kNow) == (one.key == 3 ? 0 : 1));
}

TEST_CASE("shares among many neighbours are those of a look at all, at one look for all of them") {
  constexpr std::uint32_t kMany = facts::kManyNeighbours;
  Situation s(2, 64, 0);
  codec::CoefficientStream random(5, 1);
  for (std::uint32_t i = 1; i <= kMany; ++i) {
    auto one = std::make_unique<Neighbour>(i, numbered(i), "192.0.2.1", std::uint16_t{1}, false, 0);
    one->holds.set_shape(s.holdings.shape());
    s.neighbours.add(std::move(one));
    if (random.below(4) > 0) s.claim(i, 0, random.below(65));
    if (random.below(8) == 0) s.neighbours.at(i).grants.grant(1, kNow - 10 * kSecond);  // stalled
    auto& useful = s.neighbours.at(i).traffic.usefulness();
    for (int bad = random.below(8) == 0 ? 16 : 0; bad > 0; --bad) useful.block(false, kNow);
  }
  s.hold(0, 20, kNow);
  for (std::uint32_t rotation = 0; rotation < 3; ++rotation) {
    core::policy::Holders holders;
    const std::uint64_t walks = s.neighbours.walks();
    std::vector<std::uint32_t> quotas;
    for (std::uint32_t i = 1; i <= kMany; ++i)
      quotas.push_back(core::policy::quota_of(s.holdings, s.neighbours, s.neighbours.at(i), 0,
                                              {rotation}, holders, kNow));
    CHECK(s.neighbours.walks() == walks + 1);
    // The 44 missing rows go to as many of those that hold most.
    std::uint32_t shared = 0;
    for (std::uint32_t i = 1; i <= kMany; ++i) {
      const Neighbour& one = s.neighbours.at(i);
      const std::uint32_t rank = one.holds.rank(0);
      if (rank > 0 && !one.useful()) CHECK(quotas[i - 1] == 1);
      if (rank == 0) CHECK(quotas[i - 1] == 0);
      if (rank == 0 || !one.useful() || one.grants.stalled(kNow)) continue;
      const auto place = [&](const Neighbour& n) {
        return (s.neighbours.index_of(n.key) + rotation) % kMany;
      };
      std::uint32_t before = 0;
      for (const Neighbour& n : std::as_const(s.neighbours)) {
        const std::uint32_t other = n.holds.rank(0);
        if (other == 0 || !n.useful() || n.grants.stalled(kNow)) continue;
        before += other > rank || (other == rank && place(n) < place(one));
      }
      CHECK(quotas[i - 1] == (before < 44 ? 1 : 0));
      shared += quotas[i - 1];
    }
    CHECK(shared == 44);
  }
}
