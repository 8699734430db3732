// Generations that an origin sent, in the data plane.
#include <doctest/doctest.h>

#include "tests/app/coding/data_plane_fixture.h"

namespace firn::app {
namespace {

using core::DecodeOutcome;
using tests::DataPlaneFixture;
using tests::kN;

// As an origin sends generation g; `lie`: one of its bytes is another.
std::shared_ptr<Buffer> sent(const DataPlaneFixture& fixture, std::uint32_t g, bool lie = false) {
  const std::size_t each = std::size_t{kN} * DataPlaneFixture::kK;
  auto data = fixture.plane->take_buffer(g);
  std::copy_n(fixture.padded.begin() + static_cast<std::ptrdiff_t>(g * each), data->bytes().size(),
              data->bytes().begin());
  if (lie) data->bytes()[5] ^= 1;
  return data;
}

void fetch(DataPlaneFixture& fixture, std::uint32_t g, bool lie = false) {
  fixture.plane->take_fetched(g, sent(fixture, g, lie), fixture.now);
}

std::string stands_there(const DataPlaneFixture& fixture, std::uint32_t g) {
  std::vector<std::uint8_t> data(fixture.manifest.info.shape.padded_bytes(g));
  if (!fixture.store->read_generation(g, data).ok()) return "";
  return {data.begin(), data.end()};
}

TEST_CASE("what an origin sent is written and answered, and served from memory") {
  DataPlaneFixture fixture;
  for (std::uint32_t g = 0; g < DataPlaneFixture::kGenerations; ++g) fetch(fixture, g);
  fixture.settle();
  for (std::uint32_t g = 0; g < DataPlaneFixture::kGenerations; ++g) {
    CHECK(fixture.outcomes.fetched.at(g) == DecodeOutcome::kVerified);
    const auto data = sent(fixture, g);
    CHECK(stands_there(fixture, g) == std::string(data->bytes().begin(), data->bytes().end()));
  }
  fixture.store->generations_read = 0;
  fixture.plane->send_block(1, fixture.dense(0), fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.made.contains(1));
  CHECK(fixture.store->generations_read == 0);
  CHECK(fixture.outcomes.decoded.empty());
}

TEST_CASE("what an origin sent wrong is not written") {
  DataPlaneFixture fixture;
  fetch(fixture, 1, true);
  fixture.settle();
  CHECK(fixture.outcomes.fetched.at(1) == DecodeOutcome::kCorrupt);
  CHECK(fixture.store->generations_written == 0);
  fixture.outcomes.fetched.clear();
  fetch(fixture, 1);
  fixture.settle();
  CHECK(fixture.outcomes.fetched.at(1) == DecodeOutcome::kVerified);
}

TEST_CASE("what an origin sent waits for a full disk, and need not be sent again") {
  DataPlaneFixture fixture;
  fixture.store->write_failures = 2;
  fetch(fixture, 0);
  fixture.settle();
  CHECK(fixture.outcomes.now_paused);
  CHECK(fixture.outcomes.fetched.empty());
  fixture.pass(DiskQueue::kRetryInterval);
  fixture.pass(DiskQueue::kRetryInterval);
  CHECK_FALSE(fixture.outcomes.now_paused);
  CHECK(fixture.outcomes.fetched.at(0) == DecodeOutcome::kVerified);
}

TEST_CASE("rows of a generation that an origin sent leave the spool with the core's DropRows") {
  DataPlaneFixture fixture;
  fixture.plane->store_row(fixture.row(0, 0, 1), fixture.now);
  fixture.pass(4 * core::kSecond);
  CHECK(fixture.store->rows_written == 1);
  fetch(fixture, 0);
  fixture.settle();
  fixture.plane->drop_rows(0);
  fixture.settle();
  fixture.pass(4 * core::kSecond);
  fixture.open(1 << 20);
  CHECK(fixture.resumed.rows.empty());
  CHECK(fixture.resumed.verified[0]);
}

TEST_CASE("a generation that comes from peers and an origin at once is written once") {
  for (const bool origin_first : {true, false}) {
    DataPlaneFixture fixture;
    const auto vectors = fixture.fill(0);
    if (origin_first) fetch(fixture, 0);
    fixture.plane->decode({0, vectors}, fixture.now);
    if (!origin_first) fetch(fixture, 0);
    fixture.settle();
    CHECK(fixture.outcomes.fetched.at(0) == DecodeOutcome::kVerified);
    CHECK(fixture.outcomes.decoded.at(0) == DecodeOutcome::kVerified);
    CHECK(fixture.store->generations_written == 1);
  }
}

TEST_CASE("where an origin sent a generation wrong, its decode goes on, and the other way round") {
  DataPlaneFixture fixture;
  const auto vectors = fixture.fill(0);
  fetch(fixture, 0, true);
  fixture.plane->decode({0, vectors}, fixture.now);
  const auto false_vectors = fixture.fill(1, {2});
  fixture.plane->decode({1, false_vectors}, fixture.now);
  fetch(fixture, 1);
  fixture.settle();
  CHECK(fixture.outcomes.fetched.at(0) == DecodeOutcome::kCorrupt);
  CHECK(fixture.outcomes.decoded.at(0) == DecodeOutcome::kVerified);
  CHECK(fixture.outcomes.decoded.at(1) == DecodeOutcome::kCorrupt);
  CHECK(fixture.outcomes.fetched.at(1) == DecodeOutcome::kVerified);
}

}  // namespace
}  // namespace firn::app
