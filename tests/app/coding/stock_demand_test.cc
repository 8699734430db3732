// How many blocks a stock makes for those that are asked for, whatever receivers do.
#include <doctest/doctest.h>

#include <deque>
#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "client/app/coding/stock.h"
#include "tests/app/coding/data_plane_fixture.h"

namespace firn::app {
namespace {

using tests::DataPlaneFixture;

// A device that answers when it is told to. Its generations have n blocks; the fixture's are
// smaller.
class SlowMaker final : public StockMaker {
 public:
  struct Limits {
    std::size_t n, blocks_max, generations_max = 1024;
  };
  explicit SlowMaker(const Limits& limits) : limits_(limits) {}

  bool useful() const override { return true; }
  bool keeps_sources() const override { return true; }
  std::size_t ahead(std::uint64_t asked) const override { return device_stock(asked, limits_.n); }
  std::size_t bytes_max() const override {
    return limits_.blocks_max * (DataPlaneFixture::kK + DataPlaneFixture::kN);
  }
  void holding(std::size_t bytes) override { held = bytes; }
  bool keeps(std::uint32_t) const override { return true; }
  std::size_t generations_max() const override { return limits_.generations_max; }
  void make(std::uint32_t, SharedBuffer, std::size_t rows, Made made) override {
    waiting_.emplace_back(rows, std::move(made));
  }
  bool idle() const { return waiting_.empty(); }
  void answer() {
    auto [rows, made] = std::move(waiting_.front());
    waiting_.pop_front();
    std::vector<CodedPayload> blocks(rows);
    for (CodedPayload& block : blocks) {
      const std::uint64_t number = ++blocks_made;
      for (int i = 0; i < 8; ++i)
        block.vector.push_back(static_cast<std::uint8_t>(number >> 8 * i));
    }
    made(std::move(blocks));
  }
  std::uint64_t blocks_made = 0;
  std::size_t held = 0;  // bytes

 private:
  const Limits limits_;
  std::deque<std::pair<std::size_t, Made>> waiting_;
};

struct Stocked : DataPlaneFixture {
  explicit Stocked(const SlowMaker::Limits& limits) {
    serve();
    content = std::make_shared<const CodedContent>(
        CodingResources{pool, buffers, cache, codec::kernels(), budget}, 0, store);
    auto owned = std::make_unique<SlowMaker>(limits);
    maker = owned.get();
    stock = std::make_unique<Stock>(content, std::move(owned), clock, outcomes,
                                    [](std::uint32_t, const BlockOrder&) { FAIL("unserved"); });
  }
  void ask(std::uint32_t g) {
    if (generations.insert(g).second) content->cache(g, buffers.take(1));
    BlockOrder order{++asked, {}, std::vector<std::uint8_t>(kN), {}};
    REQUIRE(stock->take(order, g));
  }
  void answer_all() {
    while (!maker->idle()) maker->answer();
  }
  TurnClock clock;
  std::shared_ptr<const CodedContent> content;
  SlowMaker* maker;  // the stock's
  std::unique_ptr<Stock> stock;
  std::set<std::uint32_t> generations;
  std::uint64_t asked = 0;
};

// Goes through the generations in its own order and at its own pace, and may need few of each.
struct Receiver {
  std::uint32_t generation, missing, pace;
};

void demand(Stocked& on, std::size_t n, std::uint64_t seed) {
  codec::CoefficientStream random(seed, n);
  const auto below = [&](std::size_t bound) {
    return random.below(static_cast<std::uint32_t>(bound));
  };
  const std::uint32_t generations = 2 + below(60), missing_max = 1 + below(n), breadth = below(3);
  std::vector<Receiver> receivers(1 + below(8));
  for (Receiver& r : receivers) r = {below(generations), 1 + below(missing_max), 1 + below(6)};
  for (int step = 0; step < 6000; ++step) {
    Receiver& r = receivers[below(receivers.size())];
    for (std::uint32_t i = 0; i < r.pace; ++i) {
      // Not always of the generation at its front, as a source after its first pass.
      on.ask((r.generation + (breadth > 0 ? below(breadth * 8) : 0)) % generations);
      if (--r.missing == 0) r = {(r.generation + 1) % generations, 1 + below(missing_max), r.pace};
    }
    if (below(500) == 0) r = {below(generations), 1 + below(missing_max), 1 + below(6)};  // another
    for (std::uint32_t answers = below(3); answers > 0 && !on.maker->idle(); --answers)
      on.maker->answer();
  }
  on.answer_all();
}

TEST_CASE(
    "whatever receivers do, few more blocks are made than are asked for, and each is sent once") {
  for (const std::size_t n : {64, 512, 1024}) {
    for (const std::size_t blocks_max : {40, 400, 4000}) {
      for (const std::uint64_t seed : {1, 2, 3}) {
        CAPTURE(n);
        CAPTURE(blocks_max);
        CAPTURE(seed);
        Stocked on({.n = n, .blocks_max = blocks_max});
        demand(on, n, seed);
        CHECK(on.outcomes.made.size() == on.asked);
        std::set<std::vector<std::uint8_t>> vectors;
        for (const auto& [ticket, vector] : on.outcomes.exchanged) vectors.insert(vector);
        CHECK(vectors.size() == on.asked);
        const std::uint64_t at_first = kStockBlocksAtFirst * on.generations.size() + 32;
        CHECK(on.maker->blocks_made <= on.asked + on.asked / 10 + at_first);
        CHECK(on.content->counts().figures().stocked == on.maker->blocks_made);
      }
    }
  }
}

TEST_CASE("a single receiver of whole generations leaves nothing in stock") {
  Stocked on({.n = 512, .blocks_max = 4000});
  for (std::uint32_t g = 0; g < 10; ++g) {
    for (int i = 0; i < 512; ++i) {
      on.ask(g);
      if (i % 3 == 0) on.answer_all();
    }
    on.answer_all();
    CHECK(on.maker->blocks_made == on.asked);
  }
}

TEST_CASE("what is in stock stays for the next receiver") {
  Stocked on({.n = 1024, .blocks_max = 4000});
  for (std::uint32_t round = 0; round < 3; ++round) {
    for (std::uint32_t g = 0; g < 100; ++g) {
      for (int i = 0; i < 100; ++i) on.ask(g);
      on.answer_all();
    }
  }
  CHECK(on.content->counts().figures().thrown_away == 0);
}

TEST_CASE("a stock stays within its bytes, and makes single blocks where it may lose no more") {
  constexpr std::size_t kRoom = 20;
  Stocked on({.n = 512, .blocks_max = kRoom});
  for (int round = 0; round < 400; ++round) {
    for (std::uint32_t g = 0; g < 50; ++g) {
      on.ask(g);
      on.answer_all();
      REQUIRE(on.maker->blocks_made <=
              on.asked + on.content->counts().figures().thrown_away + kRoom);
    }
  }
  const std::uint64_t thrown_away = on.content->counts().figures().thrown_away;
  CHECK(thrown_away > 0);
  CHECK(thrown_away <= 32 + on.asked / 32);
}

TEST_CASE("a stock that nothing is asked of for a minute is given back, and made anew on demand") {
  Stocked on({.n = 512, .blocks_max = 4000});
  CHECK(on.stock->next_wake() == core::kNever);
  const auto serve = [&] {
    for (std::uint32_t g = 0; g < 3; ++g) {
      for (int i = 0; i < 100; ++i) on.ask(g);
      on.answer_all();
    }
  };
  serve();
  const std::size_t stocked = on.maker->held;
  CHECK(stocked > 0);
  on.clock.set(Stock::kIdleMax / 2);
  on.ask(1);
  on.answer_all();
  on.clock.set(on.stock->next_wake() - 1);
  on.stock->wake();
  CHECK(on.maker->held > 0);
  CHECK(on.stock->next_wake() == Stock::kIdleMax * 3 / 2);
  on.clock.set(on.stock->next_wake());
  on.stock->wake();
  CHECK(on.maker->held == 0);
  CHECK(on.stock->next_wake() == core::kNever);
  CHECK(on.content->counts().figures().thrown_away > 0);
  for (std::uint32_t g = 0; g < 3; ++g) CHECK(on.stock->keeps(g));
  serve();
  CHECK(on.maker->held >= stocked);
  CHECK(on.outcomes.made.size() == on.asked);
}

TEST_CASE("blocks that were being made when a stock was given back are given back in turn") {
  Stocked on({.n = 512, .blocks_max = 4000});
  for (int i = 0; i < 100; ++i) on.ask(0);
  on.clock.set(on.stock->next_wake());
  on.stock->wake();
  on.answer_all();
  CHECK(on.maker->held > 0);
  CHECK(on.outcomes.made.size() == on.asked);
  REQUIRE(on.stock->next_wake() > on.clock.now());
  REQUIRE(on.stock->next_wake() != core::kNever);
  on.clock.set(on.stock->next_wake());
  on.stock->wake();
  CHECK(on.maker->held == 0);
  CHECK(on.stock->next_wake() == core::kNever);
}

TEST_CASE("stocks are as many as they may be") {
  Stocked on({.n = 512, .blocks_max = 4000, .generations_max = 10});
  for (std::uint32_t g = 0; g < 30; ++g) {
    on.ask(g);
    on.answer_all();
  }
  for (std::uint32_t g = 0; g < 20; ++g) CHECK_FALSE(on.stock->keeps(g));
  for (std::uint32_t g = 20; g < 30; ++g) CHECK(on.stock->keeps(g));
}

}  // namespace
}  // namespace firn::app
