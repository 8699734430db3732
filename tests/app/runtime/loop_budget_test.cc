#include <doctest/doctest.h>

#include "client/app/runtime/loop_budget.h"

namespace firn::app {
namespace {

TEST_CASE("a large job is never the loop's, however long it has rested") {
  LoopBudget budget;
  CHECK_FALSE(budget.take(LoopBudget::kJobMax + 1, 1000 * core::kSecond));
  CHECK(budget.take(LoopBudget::kJobMax, 1000 * core::kSecond));
}

TEST_CASE("what the loop takes in a while is bounded, and comes back with time") {
  LoopBudget budget;
  constexpr std::uint64_t kJob = 1 << 16;
  std::uint64_t taken = 0;
  while (budget.take(kJob, core::kSecond)) taken += kJob;
  CHECK(taken == LoopBudget::kSavedMax);
  CHECK_FALSE(budget.take(kJob, core::kSecond));
  // Half a second in small steps, all of it used at once.
  taken = 0;
  for (core::TimeUs now = core::kSecond; now < core::kSecond * 3 / 2; now += 100)
    while (budget.take(kJob, now)) taken += kJob;
  CHECK(taken <= LoopBudget::kPerSecond / 2);
  CHECK(taken >= LoopBudget::kPerSecond / 2 - 2 * kJob);
}

TEST_CASE("a loop with vector kernels may do more, within a bound of its own") {
  LoopBudget budget(LoopBudget::kPerSecondVector);
  std::uint64_t taken = 0;
  while (budget.take(1 << 20, core::kSecond)) taken += 1 << 20;
  CHECK(taken == LoopBudget::kPerSecondVector / LoopBudget::kSavedShare);
  CHECK_FALSE(budget.take(LoopBudget::kJobMax + 1, 1000 * core::kSecond));
}

TEST_CASE("a clock that steps back gives nothing and takes nothing") {
  LoopBudget budget;
  while (budget.take(1 << 20, core::kSecond)) {
  }
  CHECK_FALSE(budget.take(1 << 20, 0));
  CHECK_FALSE(budget.take(1 << 20, core::kSecond));
  CHECK(budget.take(1 << 20, 2 * core::kSecond));
}

}  // namespace
}  // namespace firn::app
