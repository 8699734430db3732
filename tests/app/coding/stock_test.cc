// The stock of coded blocks that the workers make, where there is no device.
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "tests/app/coding/data_plane_fixture.h"

namespace firn::app {
namespace {

using tests::DataPlaneFixture;

// The pool counts its tasks: each block that is not in stock costs one.
struct Serving : DataPlaneFixture {
  explicit Serving(std::size_t stocked = 1 << 20) {
    stock_bytes = stocked;
    while (budget.take(LoopBudget::kJobMax, now)) {
    }  // small jobs go to the workers as well
    serve();
    load(0);
  }
  // Asks for a block, as soon as the one before was made; whether it was made at once.
  bool ask(std::uint32_t g, bool exchangeable = true) {
    plane->send_block(++tickets, dense(g, exchangeable), now);
    const bool at_once = outcomes.made.contains(tickets);
    settle();
    REQUIRE(outcomes.made.contains(tickets));
    return at_once;
  }
  std::uint64_t tickets = 0;
};

TEST_CASE("blocks that many ask for come from a stock, each with its own vector, once") {
  Serving serving;
  int at_once = 0;
  for (int i = 0; i < 400; ++i) at_once += serving.ask(0);
  CHECK(at_once >= 250);
  std::set<std::string> vectors;
  for (const auto& [ticket, vector] : serving.outcomes.exchanged) {
    serving.check_exchanged(ticket, 0);
    CHECK(vectors.emplace(vector.begin(), vector.end()).second);
  }
  CHECK(vectors.size() >= 300);
}

TEST_CASE("the blocks that one receiver needs are made as they are asked for") {
  Serving serving;
  for (std::uint32_t i = 0; i < DataPlaneFixture::kN + 2; ++i) serving.ask(0);
  CHECK(serving.outcomes.exchanged.empty());
}

TEST_CASE("a block that must have its vector is made with it, though a stock is full") {
  Serving serving;
  for (int i = 0; i < 100; ++i) serving.ask(0);
  const std::size_t exchanged = serving.outcomes.exchanged.size();
  serving.ask(0, false);
  CHECK(serving.outcomes.exchanged.size() == exchanged);
}

TEST_CASE("blocks that are asked for together are all made, with a stock or without") {
  Serving serving;
  for (int round = 0; round < 30; ++round) {
    for (int i = 0; i < 9; ++i) {
      serving.plane->send_block(++serving.tickets, serving.dense(0), serving.now);
    }
    serving.settle();
    REQUIRE(serving.outcomes.made.size() == serving.tickets + 1);  // and the one that loaded it
  }
  for (const auto& [ticket, vector] : serving.outcomes.exchanged)
    serving.check_exchanged(ticket, 0);
}

TEST_CASE("stocks of generations that are not asked for any more make way") {
  Serving serving(25 * DataPlaneFixture::kK);  // no room for two
  serving.load(1);
  int last = 0;
  for (int round = 0; round < 6; ++round) {
    for (const std::uint32_t g : {0u, 1u}) {
      last = 0;
      for (int i = 0; i < 100; ++i) last += serving.ask(g);
      CHECK(last >= 20);  // the sixth round as the first
    }
  }
}

TEST_CASE("a generation that leaves the memory is read again for a stock") {
  Serving serving;
  for (int i = 0; i < 100; ++i) serving.ask(0);
  const int read = serving.store->generations_read;
  serving.cache.erase(0, 0);
  for (int i = 0; i < 40; ++i) serving.ask(0);
  CHECK(serving.store->generations_read == read + 1);
}

TEST_CASE("a data plane that goes away while a stock is made hears nothing more") {
  Serving serving;
  for (int i = 0; i < 60; ++i)
    serving.plane->send_block(++serving.tickets, serving.dense(0), serving.now);
  serving.plane.reset();
  serving.serve();
  serving.settle();
  CHECK(serving.ask(0) == false);
}

}  // namespace
}  // namespace firn::app
