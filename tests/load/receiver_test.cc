#include "tests/load/receiver.h"

#include <doctest/doctest.h>

#include "proto/base/digest.h"

namespace firn::load {
namespace {

constexpr std::uint32_t kN = 2, kK = 100, kGenerations = 4;

std::vector<std::uint8_t> data_of(std::uint32_t g) {
  return std::vector<std::uint8_t>(kN * kK, static_cast<std::uint8_t>(g + 1));
}

// A block a tenth of a second, a State a second.
Diet diet() {
  Diet diet;
  diet.manifest.id.bytes[0] = 7;
  diet.manifest.info.shape = {kN, kK, std::uint64_t{kGenerations} * kN * kK};
  for (std::uint32_t g = 0; g < kGenerations; ++g)
    diet.manifest.info.generation_digests.push_back(generation_digest(data_of(g), kK));
  diet.rate = 10.0 * kK;
  diet.state_interval = kSecond;
  diet.measurement = {0, 60 * kSecond};
  return diet;
}

proto::PeerMessage seed_hello(const Diet& diet) {
  proto::Hello hello;
  hello.content_id = diet.manifest.id;
  hello.has_manifest = true;
  return hello;
}

proto::Block source_block(std::uint32_t sequence, std::uint32_t g, std::uint32_t i) {
  proto::Block block;
  block.sequence = sequence;
  block.generation = g;
  block.source_index = i;
  std::vector<std::uint8_t> data = data_of(g);
  data.resize(data.size() + kK);  // for a block that there is not
  block.payload = proto::Payload::copy_of({data.data() + i * kK, kK});
  return block;
}

TEST_CASE("a receiver grants credit at its rate") {
  const Diet diet = load::diet();
  Receiver receiver(diet, 0, false);
  CHECK_FALSE(receiver.state(0));
  REQUIRE(receiver.take(seed_hello(diet), 0).ok());
  const auto first = receiver.state(0);
  REQUIRE(first);
  CHECK(first->credit == 10);  // what may come before the next State
  CHECK_FALSE(receiver.state(kSecond - 1));
  const auto second = receiver.state(kSecond);
  REQUIRE(second);
  CHECK(second->credit == 20);
}

TEST_CASE("a receiver wants a few generations, and the next where one is complete") {
  const Diet diet = load::diet();
  Receiver receiver(diet, 3, true);
  REQUIRE(receiver.take(seed_hello(diet), 0).ok());
  const auto first = receiver.state(0);
  REQUIRE(first);
  CHECK(first->unwanted == std::vector<proto::Span>{{0, kGenerations}});
  REQUIRE(first->generations.size() == 2);
  CHECK(first->generations[0].generation == 3);
  CHECK(first->generations[1].generation == 0);  // round the end
  CHECK(first->generations[1].quota == kN);
  REQUIRE(receiver.take(source_block(1, 3, 0), 1).ok());
  REQUIRE(receiver.take(source_block(2, 3, 1), 1).ok());
  CHECK(receiver.generations_checked() == 1);
  const auto next = receiver.state(kSecond);
  REQUIRE(next);
  CHECK(next->acknowledged == 2);
  CHECK(next->unwanted == std::vector<proto::Span>{{3, 1}});
  REQUIRE(next->generations.size() == 1);
  CHECK(next->generations[0].generation == 1);
}

TEST_CASE("a receiver that samples finds false data, and does not count a row twice") {
  const Diet diet = load::diet();
  Receiver receiver(diet, 0, true);
  REQUIRE(receiver.take(seed_hello(diet), 0).ok());
  REQUIRE(receiver.state(0));
  REQUIRE(receiver.take(source_block(1, 0, 0), 1).ok());
  REQUIRE(receiver.take(source_block(2, 0, 0), 1).ok());
  CHECK(receiver.redundant() == 1);
  proto::Block wrong = source_block(3, 0, 1);
  wrong.payload = source_block(3, 1, 1).payload;
  const Status taken = receiver.take(wrong, 1);
  REQUIRE_FALSE(taken.ok());
  CHECK(taken.error().code == ErrorCode::kCorrupt);
}

TEST_CASE("a seed that breaks a rule is found out") {
  const Diet diet = load::diet();
  Receiver receiver(diet, 0, false);
  CHECK_FALSE(receiver.take(source_block(1, 0, 0), 0).ok());  // nothing was granted
  REQUIRE(receiver.take(seed_hello(diet), 0).ok());
  REQUIRE(receiver.state(0));
  REQUIRE(receiver.take(source_block(2, 0, 0), 1).ok());
  CHECK_FALSE(receiver.take(source_block(2, 0, 1), 1).ok());
  CHECK_FALSE(receiver.take(source_block(11, 0, 1), 1).ok());
  CHECK_FALSE(receiver.take(source_block(3, 0, kN), 1).ok());
  CHECK_FALSE(receiver.take(proto::PeerMessage(proto::Goodbye{}), 1).ok());
}

}  // namespace
}  // namespace firn::load
