// What a peer remembers of the generations that a neighbour reads now.
#include <doctest/doctest.h>

#include <utility>
#include <vector>

#include "client/core/neighbour/remote_holdings.h"
#include "tests/core/fixture.h"

using namespace firn;
using namespace firn::test;
using core::kUrgentMax;
using core::RemoteHoldings;

namespace {

constexpr std::uint32_t kCount = 100;

// Generations that the neighbour's reader awaits (false), then those that it reads soon (true).
using Order = std::vector<std::pair<bool, std::uint32_t>>;
Order order(const RemoteHoldings& holds) {
  return {holds.urgent().begin(), holds.urgent().end()};
}

RemoteHoldings reader() {
  RemoteHoldings holds;
  holds.set_shape({4, 16, std::uint64_t{kCount} * 4 * 16});
  return holds;
}

void says(RemoteHoldings& holds, std::vector<proto::GenerationState> generations,
          std::vector<proto::Span> complete = {}, std::vector<proto::Span> unwanted = {}) {
  proto::State state;
  state.generations = std::move(generations);
  state.complete = std::move(complete);
  state.unwanted = std::move(unwanted);
  REQUIRE(holds.apply(std::move(state), 1));
}

}  // namespace

TEST_CASE("what a neighbour reads is what its last word on each generation was") {
  RemoteHoldings holds = reader();
  CHECK(holds.urgent().empty());
  says(holds, {reads(5, proto::kReadSoon), reads(8)});
  CHECK(order(holds) == Order{{false, 8}, {true, 5}});
  says(holds, {reads(5), reads(8, proto::kNotUrgent)});
  CHECK(order(holds) == Order{{false, 5}});
  says(holds, {reads(9, proto::kNotUrgent)});
  CHECK(order(holds) == Order{{false, 5}});
}

TEST_CASE("a neighbour reads nothing that it has in whole or does not want") {
  RemoteHoldings holds = reader();
  says(holds, {reads(5), reads(6), reads(7)});
  says(holds, {}, {{5, 1}});
  CHECK(order(holds) == Order{{false, 6}, {false, 7}});
  says(holds, {}, {}, {{7, 1}});
  CHECK(order(holds) == Order{{false, 6}});
  holds.set_shape({4, 16, std::uint64_t{kCount} * 4 * 16});
  CHECK(holds.urgent().empty());
}

TEST_CASE("of a neighbour that calls everything urgent a few generations are remembered") {
  RemoteHoldings holds = reader();
  std::vector<proto::GenerationState> all;
  for (std::uint32_t g = 0; g < kCount; ++g) all.push_back(reads(g));
  says(holds, all);
  CHECK(holds.urgent().size() == kUrgentMax);
  for (std::uint32_t g = 0; g < kCount; ++g) {
    says(holds, {reads(g)});
    REQUIRE(holds.urgent().size() == kUrgentMax);
  }
  // As others come to their end there is room for more.
  const std::uint32_t first = holds.urgent().begin()->second;
  says(holds, {reads(first, proto::kNotUrgent), reads(kCount - 1)});
  CHECK(holds.urgent().size() == kUrgentMax);
  CHECK(holds.urgent().contains({false, kCount - 1}));
}

TEST_CASE("a reader that jumps back from a full window is followed") {
  RemoteHoldings holds = reader();
  std::vector<proto::GenerationState> before, after;
  for (std::uint32_t i = 0; i < kUrgentMax; ++i) before.push_back(reads(50 + i));
  for (std::uint32_t i = 0; i < kUrgentMax; ++i) after.push_back(reads(10 + i));
  for (std::uint32_t i = 0; i < kUrgentMax; ++i) after.push_back(reads(50 + i, proto::kNotUrgent));
  says(holds, before);
  says(holds, after);
  Order expected;
  for (std::uint32_t i = 0; i < kUrgentMax; ++i) expected.emplace_back(false, 10 + i);
  CHECK(order(holds) == expected);
}
