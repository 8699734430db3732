#include "client/core/base/rate_budget.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "client/core/base/rate_limit.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::RateBudget;

namespace {

constexpr std::uint64_t kRate = 100'000;

// Members that take `piece` bytes whenever they may; a piece of 0: they are idle.
struct Takers {
  Takers(RateBudget& shared, std::vector<std::uint64_t> sizes)
      : budget(shared), pieces(std::move(sizes)), taken(pieces.size()) {
    for (std::size_t i = 0; i < pieces.size(); ++i) members.push_back(budget.join(now));
  }
  void run(TimeUs duration) {
    const TimeUs end = now + duration;
    while (now < end) {
      TimeUs next = end;
      for (std::size_t i = 0; i < members.size(); ++i) {
        if (pieces[i] == 0) continue;
        while (budget.available(members[i], now) > 0) {
          budget.take(members[i], pieces[i]);
          taken[i] += pieces[i];
        }
        next = std::min(next, budget.ready_at(members[i], now));
      }
      REQUIRE(next > now);
      now = next;
    }
  }
  std::uint64_t total() const {
    std::uint64_t sum = 0;
    for (const std::uint64_t one : taken) sum += one;
    return sum;
  }

  RateBudget& budget;
  std::vector<std::uint64_t> pieces, taken;
  std::vector<RateBudget::Member> members;
  TimeUs now = kSecond;
};

}  // namespace

TEST_CASE(
    "what several take of a budget together is its rate, in equal parts, whatever the pieces") {
  RateBudget budget(kRate, kRate / 20);
  Takers takers(budget, {100, 1000, 16'000});
  takers.run(100 * kSecond);
  CHECK(takers.total() <= 100 * kRate + kRate / 10 + 20'000);
  CHECK(takers.total() >= 99 * kRate);
  for (const std::uint64_t taken : takers.taken) {
    CHECK(taken >= 33 * kRate);
    CHECK(taken <= 34 * kRate);
  }
}

TEST_CASE("the part of idle members goes to the busy ones, equally") {
  RateBudget budget(kRate, kRate / 20);
  Takers takers(budget, {0, 1000, 0, 1000, 0});
  takers.run(100 * kSecond);
  CHECK(takers.total() >= 99 * kRate);
  CHECK(takers.taken[1] >= 49 * kRate);
  CHECK(takers.taken[3] >= 49 * kRate);
  takers.pieces = {1000, 0, 0, 0, 0};
  takers.run(10 * kSecond);
  CHECK(takers.taken[0] >= 9 * kRate);
}

TEST_CASE("many that wake at once take no more than was saved up for all") {
  RateBudget budget(kRate, kRate / 20);
  Takers takers(budget, std::vector<std::uint64_t>(50, 0));
  takers.run(100 * kSecond);
  takers.pieces.assign(50, 100);
  takers.run(kSecond);
  CHECK(takers.total() <= kRate + kRate / 10 + 2 * 50 * 100);
}

TEST_CASE("members that come and go change the parts of the others, and take nothing with them") {
  RateBudget budget(kRate, kRate / 20);
  Takers takers(budget, {1000, 1000});
  takers.run(10 * kSecond);
  const std::uint64_t before = takers.taken[0];
  budget.leave(takers.members[1], takers.now);
  takers.members.pop_back();
  takers.run(10 * kSecond);
  CHECK(takers.taken[0] - before >= 99 * kRate / 10);
  takers.members.push_back(budget.join(takers.now));
  const std::vector<std::uint64_t> then = takers.taken;
  takers.run(10 * kSecond);
  CHECK(takers.taken[1] - then[1] >= 49 * kRate / 10);
  CHECK(takers.taken[0] - then[0] >= 49 * kRate / 10);
}

TEST_CASE("a member is ready when the budget says it will be, and half full then too") {
  for (const std::uint64_t debt : {1u, 5000u, 1'000'000u}) {
    RateBudget budget(kRate, kRate / 20);
    const auto idle = budget.join(0), busy = budget.join(0);
    budget.take(idle, 100);
    budget.take(busy, debt + kRate / 10);
    CAPTURE(debt);
    TimeUs at = budget.ready_at(busy, 0);
    CHECK(budget.available(busy, at - 30) <= 0);
    CHECK(budget.available(busy, at) > 0);
    at = budget.half_full_at(busy, at);
    CHECK(budget.available(busy, at) >= kRate / 80.0);
  }
}

TEST_CASE("a budget that gets another rate gives that from then on, equally") {
  RateBudget budget(kRate, kRate / 20);
  Takers takers(budget, {1000, 1000});
  takers.run(10 * kSecond);
  const std::uint64_t before = takers.total();
  budget.set_rate(4 * kRate, 4 * kRate / 20, takers.now);
  takers.run(100 * kSecond);
  CHECK(static_cast<double>(takers.total() - before) ==
        doctest::Approx(400.0 * kRate).epsilon(0.01));
  CHECK(static_cast<double>(takers.taken[0]) ==
        doctest::Approx(static_cast<double>(takers.taken[1])).epsilon(0.01));
}

TEST_CASE(
    "a budget may lose its limit and get one again, and what was taken meanwhile is no debt") {
  RateBudget budget(kRate, kRate / 20);
  const auto member = budget.join(kSecond);
  budget.set_rate(0, 1, kSecond);
  CHECK(budget.unlimited());
  CHECK(budget.ready_at(member, kSecond) == kSecond);
  budget.take(member, 1'000'000'000);
  CHECK(budget.available(member, 2 * kSecond) > 1e12);
  budget.set_rate(kRate, kRate / 20, 3 * kSecond);
  CHECK(budget.available(member, 3 * kSecond) == doctest::Approx(kRate / 20.0));
  budget.take(member, kRate / 20);
  CHECK(budget.ready_at(member, 3 * kSecond) > 3 * kSecond);
}

TEST_CASE("a content's limit holds from the moment it is set, within that of the process") {
  RateBudget budget(0, 1);
  core::RateLimit limit(0, &budget, kSecond);
  CHECK(limit.unlimited());
  limit.set_limit(kRate, kSecond);
  CHECK_FALSE(limit.unlimited());
  CHECK(limit.rate() == kRate);
  limit.take(kRate);
  CHECK(limit.ready_at(kSecond) > kSecond);
  limit.set_limit(0, kSecond);
  CHECK(limit.ready_at(kSecond) == kSecond);
  budget.set_rate(kRate / 2, kRate / 40, kSecond);
  CHECK_FALSE(limit.unlimited());
  CHECK(limit.rate() == kRate / 2);
}

TEST_CASE("what was not used goes back, to the others where there is no room") {
  RateBudget budget(kRate, kRate / 20);
  const auto one = budget.join(0), other = budget.join(0);
  budget.take(one, 2000);
  budget.take(other, 4000);
  const double had = budget.available(other, 0);
  budget.give_back(one, 4000);
  CHECK(budget.available(other, 0) > had);
}

// --- contents ---

namespace {

struct Contents {
  Contents(std::uint64_t up, std::uint64_t down, std::vector<std::uint64_t> own_limits)
      : up_budget(up, core::burst_of(up)), down_budget(down, core::burst_of(down)) {
    for (const std::uint64_t limit : own_limits) {
      core::Options options = plain_options();
      options.up_budget = up > 0 ? &up_budget : nullptr;
      options.down_budget = down > 0 ? &down_budget : nullptr;
      options.up_limit = up > 0 ? limit : 0;
      options.down_limit = down > 0 ? limit : 0;
      fixtures.push_back(std::make_unique<Fixture>(plain_manifest(4000, 64, 1000), options));
      fixtures.back()->start(up > 0);
    }
    moved.resize(fixtures.size());
  }
  void pass(TimeUs duration) {
    for (auto& fixture : fixtures) fixture->pass(duration);
  }
  RateBudget up_budget, down_budget;
  std::vector<std::unique_ptr<Fixture>> fixtures;
  std::vector<std::uint64_t> moved;  // bytes of payload
};

// Neighbours take all they can of the busy contents, for `seconds`.
void send_for(Contents& contents, const std::vector<bool>& busy, int seconds) {
  for (std::size_t i = 0; i < busy.size(); ++i) {
    if (busy[i]) contents.fixtures[i]->join(1, peer_id(1), 1'000'000);
  }
  for (int turn = 0; turn < seconds * 200; ++turn) {
    for (std::size_t i = 0; i < busy.size(); ++i) {
      if (busy[i]) contents.moved[i] += 1000 * contents.fixtures[i]->blocks_to(1, 1030).size();
    }
    contents.pass(5 * kMillisecond);
  }
}

// One neighbour of each busy content sends all that it is granted.
void receive_for(Contents& contents, const std::vector<bool>& busy, int seconds) {
  std::vector<std::uint32_t> credit(busy.size()), sent(busy.size());
  for (std::size_t i = 0; i < busy.size(); ++i) {
    if (busy[i]) contents.fixtures[i]->join(1, peer_id(1), 0, true);
  }
  for (int turn = 0; turn < seconds * 200; ++turn) {
    for (std::size_t i = 0; i < busy.size(); ++i) {
      Fixture& fixture = *contents.fixtures[i];
      for (const auto& state : fixture.heard<proto::State>(1)) credit[i] = state.credit;
      for (std::size_t rows = fixture.take<core::StoreRow>().size(); rows > 0; --rows) {
        fixture.core.row_stored(fixture.now);
      }
      for (const auto& decode : fixture.take<core::Decode>()) {
        fixture.core.generation_decoded(decode.generation, core::DecodeOutcome::kVerified,
                                        fixture.now);
      }
      for (; busy[i] && sent[i] < credit[i]; contents.moved[i] += 1000) {
        const std::uint32_t number = sent[i]++;
        fixture.say(1, fixture.block(number / 64, number + 1, number % 64));
      }
    }
    contents.pass(5 * kMillisecond);
  }
}

}  // namespace

TEST_CASE("a process's up limit bounds its contents together, and is shared evenly") {
  Contents contents(200'000, 0, {0, 0, 0});
  send_for(contents, {true, false, true}, 20);
  for (const std::size_t i : {0u, 2u}) {
    CHECK(contents.moved[i] >= 1'900'000);
    CHECK(contents.moved[i] <= 2'020'000);
  }
}

TEST_CASE("a process's down limit bounds its contents together, and is shared evenly") {
  Contents contents(0, 200'000, {0, 0, 0});
  receive_for(contents, {true, false, true}, 20);
  for (const std::size_t i : {0u, 2u}) {
    CHECK(contents.moved[i] >= 1'900'000);
    CHECK(contents.moved[i] <= 2'020'000);
  }
}

TEST_CASE("a content's own limit holds within the process's, and leaves the rest to the others") {
  SUBCASE("up") {
    Contents contents(200'000, 0, {50'000, 0});
    send_for(contents, {true, true}, 20);
    CHECK(contents.moved[0] >= 950'000);
    CHECK(contents.moved[0] <= 1'010'000);
    CHECK(contents.moved[1] >= 2'850'000);
    CHECK(contents.moved[1] <= 3'030'000);
  }
  SUBCASE("down") {
    Contents contents(0, 200'000, {50'000, 0});
    receive_for(contents, {true, true}, 20);
    CHECK(contents.moved[0] >= 950'000);
    CHECK(contents.moved[0] <= 1'010'000);
    CHECK(contents.moved[1] >= 2'850'000);
    CHECK(contents.moved[1] <= 3'030'000);
  }
}

TEST_CASE("a content that waits for a limit is woken, though another has had it refilled since") {
  Contents contents(200'000, 0, {0, 0});
  Fixture& waiting = *contents.fixtures[0];
  waiting.join(1, peer_id(1), 1'000'000);
  while (!waiting.blocks_to(1, 1030).empty()) {  // all that its bucket and the pot hold
  }
  REQUIRE(waiting.core.next_wake() < waiting.now + kSecond);
  // The other content looks at the budget later, and refills it for both.
  contents.up_budget.available(1, waiting.now + 2 * kSecond);
  CHECK(waiting.core.next_wake() < waiting.now + kSecond);
}
