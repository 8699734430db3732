// Book-keeping of one neighbour: ranks, credit, what is in flight.
#include <doctest/doctest.h>

#include "client/core/neighbour/neighbour.h"
#include "client/core/receive/leases.h"
#include "codec/random.h"
#include "proto/base/limits.h"
#include "tests/core/facts.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::Neighbour;

namespace {

constexpr std::uint32_t kBlocksIn = 8;

Neighbour neighbour(std::uint32_t generations = 10) {
  Neighbour n(1, peer_id(1), "192.0.2.1", 4000, false, 0);
  n.holds.set_shape(Shape{kBlocksIn, 10, std::uint64_t{generations} * kBlocksIn * 10});
  return n;
}

proto::State state(std::uint32_t acknowledged, std::uint32_t credit,
                   std::vector<proto::GenerationState> generations = {},
                   std::vector<proto::Span> complete = {}) {
  return {acknowledged, credit, false, std::move(complete), std::move(generations)};
}

// The sum that total_rank() keeps.
std::uint64_t sum_of_ranks(const Neighbour& n) {
  std::uint64_t sum = 0;
  for (std::uint32_t g = 0; g < n.holds.complete().size(); ++g) sum += n.holds.rank(g);
  return sum;
}

std::uint32_t in_flight(const Neighbour& n, std::uint32_t g) {
  const core::RemoteGeneration* known = n.holds.partial().find(g);
  return known ? known->in_flight : 0;
}

}  // namespace

TEST_CASE("a row that comes into the place of a false one was in no mixture for a neighbour") {
  Neighbour n = neighbour();
  for (std::uint32_t i = 0; i < 5; ++i) n.holds.in_flight(3, i);
  n.holds.mixture_sent(3, {1, 70, 71});
  const core::SlotSet& mixed = n.holds.partial().find(3)->mixed;
  const std::vector<std::uint32_t> some = {0, 70, 500};
  n.holds.rows_gone(3, &some);
  CHECK(n.holds.partial().find(3)->sent == 2);
  n.holds.rows_gone(4, &some);
  CHECK(mixed.contains(1));
  CHECK_FALSE(mixed.contains(70));
  CHECK(mixed.contains(71));
  n.holds.rows_gone(3, nullptr);
  CHECK(n.holds.partial().find(3)->sent == 0);
  CHECK_FALSE(mixed.contains(1));
  CHECK_FALSE(mixed.contains(71));
}

TEST_CASE("a neighbour takes blocks up to its credit, after its first State only") {
  Neighbour n = neighbour();
  CHECK_FALSE(n.may_send());
  REQUIRE(n.apply_state(state(0, 2)));
  CHECK(n.may_send());
  CHECK(n.book_block(3, 0) == 1);
  CHECK(n.book_block(3, 0) == 2);
  CHECK_FALSE(n.may_send());
  REQUIRE(n.apply_state(state(0, 1)));  // an older State: credit never falls
  CHECK_FALSE(n.may_send());
  REQUIRE(n.apply_state(state(2, 3)));
  CHECK(n.may_send());
}

TEST_CASE("credit ends where its 32 bits do, and never starts again from 0") {
  Neighbour n = neighbour();
  n.grants.grant(UINT32_MAX - 1, 0);
  CHECK_FALSE(n.grants.used_up());
  const core::Holdings holdings(Shape{kBlocksIn, 16, 10 * kBlocksIn * 16});
  n.grants.resize({64, 0});
  REQUIRE(n.book_arrival(UINT32_MAX - 2, 10, 0));
  CHECK(core::policy::blocks_to_grant(holdings, n, {false, 1000, 0}) == 1);  // all that is left
  n.grants.grant(1, 0);
  CHECK_FALSE(n.grants.used_up());
  REQUIRE(n.book_arrival(UINT32_MAX, 10, 0));
  CHECK(n.grants.used_up());
  CHECK(core::policy::blocks_to_grant(holdings, n, {false, 1000, 0}) == 0);
  CHECK_FALSE(n.book_arrival(0, 10, 0));
  CHECK_FALSE(n.book_arrival(1, 10, 0));
  // As its sender: a credit that has wrapped counts as an old one.
  REQUIRE(n.apply_state(state(0, UINT32_MAX)));
  REQUIRE(n.apply_state(state(0, 3)));
  for (int i = 0; i < 5; ++i) n.book_block(0, 0);
  CHECK(n.may_send());
}

TEST_CASE("blocks are in flight until they are acknowledged") {
  Neighbour n = neighbour();
  REQUIRE(n.apply_state(state(0, 10)));
  for (int i = 0; i < 3; ++i) n.book_block(3, 0);
  n.book_block(4, 0);
  CHECK(in_flight(n, 3) == 3);
  CHECK(n.holds.partial().find(3)->expected_rank() == 3);
  CHECK(n.expected_total_rank() == 4);
  REQUIRE(n.apply_state(state(2, 10, {{3, 2, 4, {}}})));
  CHECK(in_flight(n, 3) == 1);
  CHECK(n.holds.partial().find(3)->expected_rank() == 3);
  CHECK(in_flight(n, 4) == 1);
  REQUIRE(n.apply_state(state(1, 10)));  // out of date, no harm
  CHECK(in_flight(n, 3) == 1);
  REQUIRE(n.apply_state(state(4, 10)));
  CHECK(n.expected_total_rank() == n.holds.total_rank());
}

TEST_CASE("a round trip is the shortest time from a grant to what could not come without it") {
  Neighbour n = neighbour();
  CHECK(n.grants.round_trip() == 0);
  n.grants.grant(4, 1000);
  for (std::uint32_t i = 1; i <= 2; ++i) REQUIRE(n.book_arrival(i, 10, 91'000));
  CHECK(n.grants.round_trip() == 90'000);
  // It still has credit for two: only the third after this grant needed it, and that took longer.
  n.grants.grant(2, 100'000);
  n.grants.grant(2, 110'000);
  for (std::uint32_t i = 3; i <= 4; ++i) REQUIRE(n.book_arrival(i, 10, 120'000));
  CHECK(n.grants.round_trip() == 90'000);
  REQUIRE(n.book_arrival(5, 10, 240'000));
  CHECK(n.grants.round_trip() == 90'000);
  REQUIRE(n.book_arrival(8, 10, 250'000));  // numbers may be skipped
  n.grants.grant(4, 300'000);
  REQUIRE(n.book_arrival(10, 10, 350'000));
  CHECK(n.grants.round_trip() == 50'000);
}

TEST_CASE("a long round trip is believed once several grants were answered no sooner") {
  const auto told = [](TimeUs takes, std::uint32_t grants, TimeUs last_takes) {
    Neighbour n = neighbour();
    for (std::uint32_t i = 1; i <= grants; ++i) {
      n.grants.grant(1, i * 10 * kSecond);
      REQUIRE(n.book_arrival(i, 10, i * 10 * kSecond + (i < grants ? takes : last_takes)));
    }
    return n.grants.round_trip();
  };
  constexpr std::uint32_t kEnough = facts::kAnswersBelieved;
  constexpr TimeUs kShort = facts::kMayBeQueue, kLong = kShort + 100'000;
  CHECK(told(kLong, kEnough - 1, kLong) == 0);  // it may have had nothing to send
  CHECK(told(kLong, kEnough, kLong) == kLong);
  CHECK(told(kLong, kEnough, 40'000) == 40'000);
  CHECK(told(kLong, 2, kShort) == kShort);                  // short enough at once
  CHECK(told(5 * kSecond, 2 * kEnough, 5 * kSecond) == 0);  // no path is so long
}

TEST_CASE("a block that could not be made is not in flight and costs no credit") {
  Neighbour n = neighbour();
  REQUIRE(n.apply_state(state(0, 4)));
  SUBCASE("the last of them") {
    for (int i = 0; i < 4; ++i) n.book_block(3, 0);
    n.block_departed(100, 0);
    for (int i = 0; i < 3; ++i) n.block_departed(0, 0);
    CHECK(in_flight(n, 3) == 1);
    CHECK(n.pipe.queued() == 0);
    // The receiver will never hear of numbers 2 to 4, so that it cannot renew their credit.
    CHECK(n.may_send());
    CHECK(n.book_block(3, 0) == 2);
  }
  SUBCASE("in the middle: numbers skip") {
    for (int i = 0; i < 4; ++i) n.book_block(3, 0);
    n.block_departed(0, 0);
    n.block_departed(0, 0);
    n.block_departed(100, 0);
    CHECK(in_flight(n, 3) == 2);
    n.block_departed(100, 0);
    CHECK_FALSE(n.may_send());
    REQUIRE(n.apply_state(state(4, 5)));
    CHECK(in_flight(n, 3) == 0);
    CHECK(n.book_block(3, 0) == 5);
  }
  SUBCASE("all of them, while others are queued again and again") {
    for (int round = 0; round < 100; ++round) {
      REQUIRE(n.may_send());
      n.book_block(3, 0);
      n.block_departed(0, 0);
    }
    CHECK(in_flight(n, 3) == 0);
    n.book_block(3, 0);
    n.block_departed(100, 0);
    CHECK(n.apply_state(state(1, 4)));
    CHECK_FALSE(n.apply_state(state(2, 4)));  // never sent
  }
}

TEST_CASE("impossible States are refused") {
  Neighbour n = neighbour(10);
  REQUIRE(n.apply_state(state(0, UINT32_MAX)));
  CHECK_FALSE(n.apply_state(state(1, 4)));
  CHECK_FALSE(n.apply_state(state(UINT32_MAX, 4)));
  CHECK_FALSE(n.apply_state(state(0, 4, {{10, 1, 4, {}}})));
  CHECK_FALSE(n.apply_state(state(0, 4, {{UINT32_MAX, 1, 4, {}}})));
  CHECK_FALSE(n.apply_state(state(0, 4, {{1, kBlocksIn + 1, 4, {}}})));
  CHECK_FALSE(n.apply_state(state(0, 4, {{1, 1, 4, std::vector<std::uint8_t>(kBlocksIn - 1, 1)}})));
  CHECK_FALSE(n.apply_state(state(0, 4, {}, {{0, 11}})));
  CHECK_FALSE(n.apply_state(state(0, 4, {}, {{10, 1}})));
  CHECK_FALSE(n.apply_state(state(0, 4, {}, {{UINT32_MAX, 2}})));
  CHECK_FALSE(n.apply_state(state(0, 4, {}, {{2, UINT32_MAX}})));
  // The same generations over and over in one message only cost time.
  CHECK_FALSE(n.apply_state(state(0, 4, {}, {{0, 10}, {0, 10}})));
  CHECK(n.apply_state(state(0, 4, {}, {{0, 5}, {5, 5}})));
  CHECK(n.holds.has_everything());
}

TEST_CASE("ranks may fall, and a complete generation may be taken back") {
  Neighbour n = neighbour(3);
  REQUIRE(n.apply_state(state(0, 4, {{1, 5, 4, {}}}, {{0, 1}})));
  CHECK(n.holds.rank(0) == kBlocksIn);
  CHECK(n.holds.rank(1) == 5);
  CHECK(n.holds.total_rank() == kBlocksIn + 5);
  REQUIRE(n.apply_state(state(0, 4, {{0, 2, 4, {}}, {1, 0, 4, {}}})));
  CHECK(n.holds.rank(0) == 2);
  CHECK(n.holds.rank(1) == 0);
  CHECK(n.holds.total_rank() == 2);
  CHECK(n.holds.complete().next_missing(0) == 0);
  CHECK_FALSE(n.holds.has_everything());
}

TEST_CASE("what a neighbour does not want is settled until it grants a quota of it") {
  Neighbour n = neighbour(4);
  proto::State first = state(0, 4, {{1, 5, 4, {}}}, {{0, 1}});
  first.unwanted = {{2, 2}};
  REQUIRE(n.apply_state(std::move(first)));
  CHECK(n.holds.wants(1));
  CHECK_FALSE(n.holds.wants(2));
  CHECK_FALSE(n.holds.satisfied());
  CHECK(n.holds.settled().next_missing(0) == 1);
  REQUIRE(n.apply_state(state(0, 4, {}, {{1, 1}})));
  CHECK(n.holds.satisfied());
  CHECK_FALSE(n.holds.has_everything());
  REQUIRE(n.apply_state(state(0, 4, {{2, 0, 0, {}}, {3, 0, 1, {}}})));
  CHECK_FALSE(n.holds.wants(2));  // mentioned without a quota
  CHECK(n.holds.wants(3));
  CHECK_FALSE(n.holds.satisfied());
  // What it holds none of any more has no rank either.
  REQUIRE(n.apply_state(state(0, 4, {{3, 5, 1, {}}})));
  proto::State second = state(0, 4);
  second.unwanted = {{1, 1}, {3, 1}};
  REQUIRE(n.apply_state(std::move(second)));
  CHECK(n.holds.total_rank() == kBlocksIn);
  CHECK(n.holds.total_rank() == sum_of_ranks(n));
  CHECK_FALSE(n.holds.wants(1));
  REQUIRE(n.apply_state(state(0, 4, {}, {{0, 4}})));
  CHECK(n.holds.has_everything());
  CHECK(n.holds.total_rank() == sum_of_ranks(n));
}

TEST_CASE("withdrawn generations are not held any more, until they are complete again") {
  Neighbour n = neighbour(4);
  CHECK(n.holds.withdrawn().size() == 0);
  proto::State told = state(0, 4, {}, {{0, 4}});
  told.withdrawn = {{1, 2}};
  REQUIRE(n.apply_state(std::move(told)));
  CHECK_FALSE(n.holds.has_everything());
  CHECK(n.holds.rank(1) == 0);
  CHECK(n.holds.total_rank() == 2 * kBlocksIn);
  CHECK(n.holds.withdrawn().contains(1));
  CHECK_FALSE(n.holds.withdrawn().contains(0));
  CHECK(n.holds.wants(1));  // unless it says otherwise
  REQUIRE(n.apply_state(state(0, 4, {}, {{1, 1}})));
  CHECK_FALSE(n.holds.withdrawn().contains(1));
  CHECK(n.holds.rank(1) == kBlocksIn);
}

TEST_CASE("spans of what is not wanted or withdrawn keep the rules of spans") {
  const auto fits = [](std::vector<proto::Span> spans) {
    bool all = true, none = false;
    for (const bool unwanted : {true, false}) {
      Neighbour n = neighbour(10);
      proto::State s = state(0, 4);
      (unwanted ? s.unwanted : s.withdrawn) = spans;
      const bool fit = n.apply_state(std::move(s));
      all = all && fit;
      none = none || fit;
    }
    CHECK(all == none);
    return all;
  };
  CHECK(fits({{0, 10}}));
  CHECK(fits({{0, 5}, {5, 5}}));
  CHECK_FALSE(fits({{0, 11}}));
  CHECK_FALSE(fits({{10, 1}}));
  CHECK_FALSE(fits({{UINT32_MAX, 2}}));
  CHECK_FALSE(fits({{2, UINT32_MAX}}));
  CHECK_FALSE(fits({{0, 10}, {0, 10}}));
}

TEST_CASE("who takes back all it has again and again is not obeyed for ever") {
  constexpr std::uint32_t kMany = 100'000;
  Neighbour n = neighbour(kMany);
  const auto again = [&] {
    proto::State s = state(0, 4, {}, {{0, kMany}});
    s.withdrawn = {{0, kMany}};
    return n.apply_state(std::move(s));
  };
  CHECK(again());
  CHECK_FALSE(again());
  // One that loses and regains what it can read of a file in a State each may go on.
  Neighbour fair = neighbour(kMany);
  for (int i = 0; i < 1000; ++i) {
    proto::State s = state(0, 4, {}, {{0, 200}});
    s.withdrawn = {{0, 200}};
    REQUIRE(fair.apply_state(std::move(s)));
  }
}

TEST_CASE("blocks in flight when a generation completes are forgotten once") {
  Neighbour n = neighbour(3);
  REQUIRE(n.apply_state(state(0, 10)));
  n.book_block(0, 0);
  n.book_block(0, 0);
  REQUIRE(n.apply_state(state(0, 10, {}, {{0, 1}})));
  REQUIRE(n.apply_state(state(0, 10, {{0, 0, 4, {}}})));  // and lost again
  n.book_block(0, 0);
  REQUIRE(n.apply_state(state(2, 10)));
  CHECK(in_flight(n, 0) == 1);
  REQUIRE(n.apply_state(state(3, 10)));
  CHECK(in_flight(n, 0) == 0);
}

TEST_CASE("the total of ranks and the counts in flight stay right over random histories") {
  codec::CoefficientStream random(1, 2);
  for (int run = 0; run < 50; ++run) {
    Neighbour n = neighbour(6);
    std::uint32_t sent = 0, acknowledged = 0, credit = 0;
    REQUIRE(n.apply_state(state(0, credit = 100)));
    for (int step = 0; step < 300; ++step) {
      const std::uint32_t g = random.below(6);
      switch (random.below(5)) {
        case 0:
          if (n.may_send()) sent = n.book_block(g, 0);
          break;
        case 1:
          if (n.pipe.queued() > 0) n.block_departed(random.below(4) == 0 ? 0 : 100, 0);
          break;
        case 2: {
          // What the driver has reported as sent can be acknowledged.
          const std::uint32_t most = sent - n.pipe.queued();
          acknowledged = most <= acknowledged ? acknowledged
                                              : acknowledged + random.below(most - acknowledged);
          if (!n.apply_state(state(acknowledged, credit += random.below(3)))) acknowledged = 0;
          break;
        }
        case 3:
          REQUIRE(n.apply_state(state(0, 0, {{g, random.below(kBlocksIn + 1), 4, {}}})));
          break;
        default:
          REQUIRE(n.apply_state(state(0, 0, {}, {{g, 1}})));
      }
      REQUIRE(n.holds.total_rank() == sum_of_ranks(n));
      REQUIRE(n.expected_total_rank() >= n.holds.total_rank());
      std::uint64_t in_flight = 0;
      n.holds.partial().each(
          [&](std::uint32_t, const auto& remote) { in_flight += remote.in_flight; });
      REQUIRE(in_flight <= n.expected_total_rank() - n.holds.total_rank());
    }
  }
}

TEST_CASE("null vectors from a neighbour are kept for a few generations only") {
  const std::uint32_t count = 5000;
  Neighbour n = neighbour(count);
  for (std::uint32_t g = 0; g < count; ++g) {
    REQUIRE(n.apply_state(state(0, 4, {{g, 1, 4, std::vector<std::uint8_t>(kBlocksIn, 1)}})));
  }
  std::size_t kept = 0;
  n.holds.partial().each([&](std::uint32_t g, const auto& remote) {
    CHECK(remote.has_null_vector == (n.holds.null_vector(g) != nullptr));
    kept += remote.has_null_vector ? 1 : 0;
  });
  CHECK(kept > 0);
  CHECK(kept <= 64);
  // One that was answered makes room.
  REQUIRE(n.apply_state(state(0, 100, {{1, 1, 4, std::vector<std::uint8_t>(kBlocksIn, 2)}})));
}

TEST_CASE("ranks claimed all over a large content take bounded memory") {
  const std::uint32_t count = 1'000'000, claimed = count / 50;
  Neighbour n = neighbour(count);
  for (std::uint32_t g = 0; g < count; g += 50)
    REQUIRE(n.apply_state(state(0, 4, {{g, 1, 4, {}}})));
  // A page has 32 entries of generations in order: none of these shares one with another.
  const auto believed = [&] {
    std::uint32_t count = 0;
    n.holds.partial().each([&](std::uint32_t, const auto&) { ++count; });
    return count;
  };
  CHECK(believed() > 0);
  CHECK(believed() < claimed / 2);
  CHECK(n.holds.rank(count - 50) == 0);  // not believed, for want of room
  REQUIRE(n.apply_state(state(0, 4, {}, {{0, count}})));
  CHECK(believed() == 0);
  CHECK(n.holds.has_everything());
}

TEST_CASE("sequence numbers must rise and stay within the grant") {
  Neighbour n = neighbour();
  CHECK_FALSE(n.book_arrival(1, 10, 0));  // nothing granted
  n.grants.grant(4, 0);
  CHECK_FALSE(n.book_arrival(0, 10, 0));
  CHECK(n.book_arrival(1, 10, 0));
  CHECK_FALSE(n.book_arrival(1, 10, 0));
  CHECK(n.book_arrival(3, 10, 0));  // may skip
  CHECK_FALSE(n.book_arrival(2, 10, 0));
  CHECK(n.grants.outstanding() == 1);
  CHECK_FALSE(n.book_arrival(5, 10, 0));
  CHECK_FALSE(n.book_arrival(UINT32_MAX, 10, 0));
  CHECK(n.book_arrival(4, 10, 0));
  CHECK(n.grants.outstanding() == 0);
}

TEST_CASE("a neighbour is stalled when it owes blocks and nothing has come for long") {
  Neighbour n = neighbour();
  CHECK_FALSE(n.grants.stalled(1000 * kSecond));  // owes nothing
  n.grants.grant(4, 1000 * kSecond);
  CHECK_FALSE(n.grants.stalled(1000 * kSecond + facts::kStalled / 2));
  const TimeUs later = 1000 * kSecond + facts::kStalled + 1;
  CHECK(n.grants.stalled(later));
  REQUIRE(n.book_arrival(1, 10, later));
  CHECK_FALSE(n.grants.stalled(later + facts::kStalled / 2));
}

TEST_CASE("new rows of a neighbour clear its debt and pay for blocks to come, up to a bound") {
  core::FairExchange exchange;
  std::uint64_t sent = 0;
  const auto room = [&] {  // blocks until it is in debt
    std::uint64_t blocks = 0;
    while (!exchange.over(sent + blocks)) REQUIRE(++blocks < 10'000);
    return blocks;
  };
  const std::uint64_t first = room();
  CHECK(first > 0);
  sent = 1000;
  CHECK(exchange.over(sent));
  exchange.repaid(sent, true);  // what was owed before is forgotten
  CHECK(room() == first);
  exchange.repaid(sent, true);
  CHECK(room() > first);
  for (int i = 0; i < 100; ++i) exchange.repaid(sent, true);
  const std::uint64_t most = room();
  exchange.repaid(sent, true);
  CHECK(room() == most);
  // Among polluters nothing is saved.
  exchange.repaid(sent, false);
  CHECK(room() == first);
}

TEST_CASE("a neighbour that brings one row for ten blocks comes through a time without any") {
  core::FairExchange exchange;
  std::uint64_t sent = 0;
  for (; sent < 200; ++sent) {
    REQUIRE_FALSE(exchange.over(sent));
    if (sent % 10 == 9) exchange.repaid(sent, true);
  }
  CHECK_FALSE(exchange.over(sent + 100));
}

TEST_CASE("among polluters more of what a neighbour sends may be old") {
  Neighbour n = neighbour();
  CHECK(n.useful());
  for (int i = 0; i < 200; ++i) n.traffic.usefulness().block(i % 5 < 3, i);
  CHECK_FALSE(n.useful());
  CHECK(n.in_debt());
  n.regard_as(core::Regard::kSuspect, true);
  CHECK(n.useful());
  CHECK_FALSE(n.in_debt());
}
