// What all contents of a process share of a device: the room for blocks made ahead, and the source
// blocks that it keeps.
#include <doctest/doctest.h>

#include "client/app/coding/stock_maker.h"
#include "tests/app/coding/data_plane_fixture.h"
#include "tests/codec/fake_device.h"

namespace firn::app {
namespace {

using tests::DataPlaneFixture;
using tests::FakeDevice;

constexpr std::size_t kRoom = 100'000;
constexpr std::size_t kGenerationBytes = std::size_t{DataPlaneFixture::kN} * DataPlaneFixture::kK;

struct Contents : DataPlaneFixture {
  Contents() {
    auto first = std::make_unique<FakeDevice>(executor, 0, 0);
    first->kept_bytes = 2 * kGenerationBytes + 1;
    first->keeping = true;
    use_device(std::move(first), std::make_unique<FakeDevice>(executor, 0, 0),
               {.stock_bytes = kRoom});
    serve();
  }
  ~Contents() {
    plane.reset();
    coder.reset();
  }
  std::shared_ptr<const CodedContent> content(std::uint32_t number) {
    return std::make_shared<const CodedContent>(
        CodingResources{pool, buffers, cache, codec::kernels(), budget, coder.get()}, number,
        store);
  }
  // Has the maker make a block of the generation; whether it did.
  bool make(StockMaker& maker, std::uint32_t g, bool with_source = true) {
    bool made = false;
    const auto source = buffers.take(kGenerationBytes);
    maker.make(g, with_source ? source : nullptr, 1,
               [&](const std::vector<CodedPayload>& blocks) { made = !blocks.empty(); });
    settle();
    return made;
  }
  codec::SerialExecutor executor;
  TaskLine tasks{pool};
};

TEST_CASE("contents share the room for blocks that a device makes ahead") {
  Contents on;
  const auto first = stock_maker(on.content(1), on.tasks);
  auto second = stock_maker(on.content(2), on.tasks);
  CHECK(first->bytes_max() == kRoom);
  second->holding(kRoom / 4);
  CHECK(first->bytes_max() == kRoom - kRoom / 4);
  CHECK(second->bytes_max() == kRoom);
  first->holding(kRoom / 2);
  CHECK(second->bytes_max() == kRoom / 2);
  first->holding(kRoom / 8);
  CHECK(second->bytes_max() == kRoom - kRoom / 8);
  second->holding(2 * kRoom);  // what is under way may be more for a while
  CHECK(first->bytes_max() == 0);
}

TEST_CASE("a content that goes leaves its room to the others") {
  Contents on;
  const auto first = stock_maker(on.content(1), on.tasks);
  auto second = stock_maker(on.content(2), on.tasks);
  second->holding(kRoom);
  CHECK(first->bytes_max() == 0);
  second.reset();
  CHECK(first->bytes_max() == kRoom);
}

TEST_CASE("a data plane that goes, or is idle for a minute, leaves its room to the others") {
  Contents on;
  const auto other = stock_maker(on.content(7), on.tasks);
  std::uint64_t ticket = 0;
  const auto fill = [&](std::uint32_t g) {
    on.load(g);
    on.plane->send_block(++ticket, on.dense(g), on.now);
    on.settle();
    CHECK(other->bytes_max() < kRoom);
  };
  fill(0);
  REQUIRE(on.plane->next_wake() <= on.now + Stock::kIdleMax);
  on.pass(Stock::kIdleMax);
  CHECK(other->bytes_max() == kRoom);
  fill(1);
  on.plane.reset();
  CHECK(other->bytes_max() == kRoom);
}

TEST_CASE(
    "of all contents a device is taken to keep the generations used last, as many as it has") {
  Contents on;
  const auto first = stock_maker(on.content(1), on.tasks);
  const auto second = stock_maker(on.content(2), on.tasks);
  CHECK_FALSE(first->keeps(0));
  CHECK(on.make(*first, 0));
  CHECK(on.make(*second, 0));
  CHECK(first->keeps(0));
  CHECK(second->keeps(0));
  CHECK(on.make(*first, 0));   // used again
  CHECK(on.make(*second, 1));  // a third
  CHECK(first->keeps(0));
  CHECK_FALSE(second->keeps(0));
  CHECK(second->keeps(1));
}

TEST_CASE("a device is not taken to keep what it lost, or could not make") {
  Contents on;
  const auto maker = stock_maker(on.content(1), on.tasks);
  CHECK(on.make(*maker, 0));
  on.coder->forget(on.content(1)->key_of(0));
  CHECK_FALSE(maker->keeps(0));
  CHECK_FALSE(on.make(*maker, 1, false));  // without source blocks
  CHECK_FALSE(maker->keeps(1));
}

TEST_CASE("workers keep no source blocks") {
  DataPlaneFixture on;
  on.serve();
  TaskLine tasks(on.pool);
  const auto content = std::make_shared<const CodedContent>(
      CodingResources{on.pool, on.buffers, on.cache, codec::kernels(), on.budget}, 1, on.store);
  CHECK_FALSE(stock_maker(content, tasks)->keeps(0));
}

}  // namespace
}  // namespace firn::app
