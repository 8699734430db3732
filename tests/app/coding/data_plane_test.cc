#include <doctest/doctest.h>

#include <filesystem>
#include <future>
#include <thread>

#include "codec/encode.h"
#include "tests/app/coding/data_plane_fixture.h"

namespace firn::app {
namespace {

using tests::bytes_of;
using tests::DataPlaneFixture;
using tests::kN;
using tests::Outcomes;

TEST_CASE("a full generation is decoded, checked and written, without touching the spool") {
  DataPlaneFixture fixture;
  for (std::uint32_t g = 0; g < DataPlaneFixture::kGenerations; ++g)
    fixture.plane->decode({g, fixture.fill(g)}, fixture.now);
  fixture.settle();
  for (std::uint32_t g = 0; g < DataPlaneFixture::kGenerations; ++g) {
    CHECK(fixture.outcomes.decoded.at(g) == core::DecodeOutcome::kVerified);
    for (std::uint32_t slot = 0; slot < kN; ++slot)
      CHECK(fixture.outcomes.stored.contains({g, slot}));
  }
  fixture.pass(core::kSecond);
  CHECK(fixture.store->rows_written == 0);
  fixture.plane->finish();
  fixture.settle();
  CHECK(fixture.outcomes.finished);
  std::ifstream file(fixture.target() + "/file", std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == fixture.text);
}

TEST_CASE(
    "a generation with fewer blocks is spooled, decoded, served and recoded like a full one") {
  const std::uint32_t last = DataPlaneFixture::kGenerations - 1;
  DataPlaneFixture fixture(1 << 20, 1 << 20, kN * DataPlaneFixture::kK * last + 1234);
  REQUIRE(fixture.blocks_in(last) == 2);
  fixture.plane->store_row(fixture.row(last, 0, 1), fixture.now);
  fixture.pass(kSpoolDelayFew);
  CHECK(fixture.store->rows_written == 1);
  fixture.open(1 << 20);
  REQUIRE(fixture.resumed.rows.size() == 1);
  CHECK(fixture.resumed.rows[0].vector.size() == 2);
  fixture.outcomes.stored.clear();

  for (std::uint32_t g = 0; g <= last; ++g) {
    if (g == last) fixture.plane->drop_rows(g);
    fixture.plane->decode({g, fixture.fill(g)}, fixture.now);
  }
  fixture.settle();
  for (std::uint32_t g = 0; g <= last; ++g)
    CHECK(fixture.outcomes.decoded.at(g) == core::DecodeOutcome::kVerified);
  core::SendBlock send;
  send.block.generation = last;
  send.block.coefficients = {3, 7};
  fixture.plane->send_block(9, send, fixture.now);
  fixture.settle();
  CHECK(bytes_of(fixture.outcomes.made.at(9)) == fixture.combination(last, {3, 7}));
  fixture.plane->finish();
  fixture.settle();
  std::ifstream file(fixture.target() + "/file", std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == fixture.text);
}

TEST_CASE("rows are spooled after a while, reported then, and found again after a kill") {
  DataPlaneFixture fixture;
  const auto first = fixture.row(1, 0, 1);
  fixture.plane->store_row(first, fixture.now);
  fixture.pass(kSpoolDelayFew - 1);
  CHECK(fixture.outcomes.stored.empty());
  fixture.pass(1);
  CHECK(fixture.outcomes.stored.contains({1, 0}));
  CHECK(fixture.store->rows_written == 1);

  fixture.open(1 << 20);
  REQUIRE(fixture.resumed.rows.size() == 1);
  CHECK(fixture.resumed.rows[0].vector == *first.vector);
  CHECK(fixture.resumed.rows[0].sender == first.sender);
}

TEST_CASE("a false row makes the decode corrupt, and the generation can be fetched again") {
  DataPlaneFixture fixture;
  const auto polluted = fixture.fill(0, {3, 6});
  fixture.plane->decode({0, polluted}, fixture.now);
  fixture.settle();
  REQUIRE(fixture.outcomes.decoded.at(0) == core::DecodeOutcome::kCorrupt);
  fixture.plane->drop_rows(0);
  fixture.settle();
  for (std::uint32_t slot = 0; slot < kN; ++slot)
    CHECK(fixture.outcomes.stored.contains({0, slot}));

  fixture.outcomes.stored.clear();
  fixture.plane->decode({0, fixture.fill(0)}, fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.decoded.at(0) == core::DecodeOutcome::kVerified);
}

TEST_CASE("rows past the memory bound are evicted and read back for decoding") {
  DataPlaneFixture fixture(3 * DataPlaneFixture::kK);
  const auto rows = fixture.fill(0);
  fixture.settle();
  fixture.pass(kSpoolDelayFew);
  CHECK(fixture.store->rows_written == static_cast<int>(kN));
  fixture.plane->decode({0, rows}, fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.decoded.at(0) == core::DecodeOutcome::kVerified);
  CHECK(fixture.store->rows_read >= static_cast<int>(kN) - 3);
}

TEST_CASE("a decode whose rows are gone fails and is told so") {
  DataPlaneFixture fixture;
  core::Decode decode{0, {}};
  for (std::uint32_t slot = 0; slot < kN; ++slot)
    decode.vectors.push_back(fixture.row(0, slot, 1).vector);
  fixture.plane->decode(decode, fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.decoded.at(0) == core::DecodeOutcome::kFailed);
}

TEST_CASE("a source sends source blocks as they are and dense combinations") {
  DataPlaneFixture fixture;
  fixture.serve();
  std::map<std::uint64_t, std::vector<std::uint8_t>> expected;
  std::uint64_t ticket = 0;
  for (std::uint32_t g = 0; g < DataPlaneFixture::kGenerations; ++g) {
    for (std::uint32_t i = 0; i < 100; ++i) {
      core::SendBlock send;
      send.block.generation = g;
      std::vector<std::uint8_t> vector = codec::random_vector(kN, fixture.random);
      if (i % 2 == 0) {
        send.block.source_index = i % kN;
        vector = codec::unit_vector(kN, i % kN);
      } else {
        send.block.coefficients = vector;
      }
      expected[++ticket] = fixture.combination(g, vector);
      fixture.plane->send_block(ticket, std::move(send), fixture.now);
    }
  }
  fixture.settle();
  REQUIRE(fixture.outcomes.made.size() == expected.size());
  for (const auto& [t, payload] : expected) CHECK(bytes_of(fixture.outcomes.made.at(t)) == payload);
  CHECK(fixture.store->generations_read == static_cast<int>(DataPlaneFixture::kGenerations));
}

TEST_CASE("a source reads the next generation ahead") {
  DataPlaneFixture fixture;
  fixture.serve();
  fixture.plane->serve_everything();
  core::SendBlock send;
  send.block.generation = 0;
  send.block.source_index = 0;
  fixture.plane->send_block(1, send, fixture.now);
  fixture.settle();
  CHECK(fixture.cache.find(0, 1) != nullptr);
  CHECK(fixture.store->generations_read == 2);
  send.block.generation = DataPlaneFixture::kGenerations - 1;  // nothing comes after the last
  fixture.plane->send_block(2, send, fixture.now);
  fixture.settle();
  CHECK(fixture.store->generations_read == 3);
}

TEST_CASE("with room for few generations only the front is read ahead") {
  DataPlaneFixture fixture(1 << 20, DataPlaneFixture::kN * DataPlaneFixture::kK);  // one
  fixture.serve();
  fixture.plane->serve_everything();
  core::SendBlock send;
  send.block.source_index = 0;
  std::uint64_t ticket = 0;
  for (const std::uint32_t generation : {0, 2, 0}) {
    send.block.generation = generation;
    fixture.plane->send_block(++ticket, send, fixture.now);
    fixture.settle();
  }
  CHECK(fixture.store->generations_read == 4);  // 0 and 1 ahead, 2, 0
}

// Decodes generation g, while `under_way` other tasks take their time.
void decode_beside(DataPlaneFixture& fixture, std::uint32_t g, std::size_t under_way) {
  fixture.plane->decode({g, fixture.fill(g)}, fixture.now);
  while (!fixture.outcomes.decoded.contains(g) || fixture.pool.task_count() > under_way) {
    fixture.pool.run_completions();
    std::this_thread::yield();
  }
}

TEST_CASE("a sync that takes long has no other beside it, nor a finish") {
  for (const bool complete : {true, false}) {
    CAPTURE(complete);
    DataPlaneFixture fixture;
    std::promise<void> gate;
    fixture.store->sync_gate = gate.get_future().share();
    const std::uint32_t end = DataPlaneFixture::kGenerations - (complete ? 0 : 1);
    for (std::uint32_t g = 0; g < end; ++g) {
      decode_beside(fixture, g, g == 0 ? 0 : 1);
      fixture.now += Durability::kSyncInterval;
      fixture.plane->wake(fixture.now);
      REQUIRE(fixture.pool.task_count() == 1);
    }
    if (complete) fixture.plane->finish();
    CHECK(fixture.pool.task_count() == 1);
    gate.set_value();
    fixture.settle();
    CHECK(fixture.outcomes.finished == complete);
    CHECK(fixture.store->syncs == (complete ? 1 : 2));  // what came during the first is synced too
  }
}

TEST_CASE("no sync is started behind a finish, which would find the work folder gone") {
  DataPlaneFixture fixture;
  for (std::uint32_t g = 0; g < DataPlaneFixture::kGenerations; ++g)
    fixture.plane->decode({g, fixture.fill(g)}, fixture.now);
  fixture.settle();
  fixture.plane->finish();
  fixture.now += Durability::kSyncInterval;
  fixture.plane->wake(fixture.now);  // a sync is due
  fixture.settle();
  CHECK(fixture.outcomes.finished);
  CHECK(fixture.store->syncs == 0);
  CHECK(fixture.outcomes.paused == 0);
}

TEST_CASE("a finish that is under way when other files are chosen is not answered") {
  for (const bool complete : {true, false}) {
    CAPTURE(complete);
    DataPlaneFixture fixture;
    for (std::uint32_t g = 0; g < DataPlaneFixture::kGenerations; ++g)
      fixture.plane->decode({g, fixture.fill(g)}, fixture.now);
    fixture.settle();
    std::promise<void> gate;
    fixture.store->finish_gate = gate.get_future().share();
    fixture.plane->finish();
    fixture.plane->finish();  // also of the first choice
    fixture.plane->choose({});
    if (complete) fixture.plane->finish();
    CHECK(fixture.pool.task_count() == 1);
    gate.set_value();
    fixture.settle();
    CHECK(fixture.store->choices == 1);
    CHECK(fixture.outcomes.finished == complete);
  }
}

TEST_CASE("what the store has to say of a choice is told as soon as it is made") {
  DataPlaneFixture fixture;
  fixture.store->choice_warning = "1 MiB are needed, and 0 MiB are free";
  fixture.plane->choose({});
  fixture.settle();
  CHECK(fixture.outcomes.warnings == 1);
}

TEST_CASE(
    "a file edited during its download is left alone, and the end says so instead of success") {
  DataPlaneFixture fixture;
  for (std::uint32_t g = 0; g < DataPlaneFixture::kGenerations; ++g)
    fixture.plane->decode({g, fixture.fill(g)}, fixture.now);
  fixture.settle();
  fixture.pass(Durability::kSyncInterval);  // the file gets its final name
  const std::string file = fixture.target() + "/file";
  REQUIRE(std::filesystem::exists(file));
  fixture.cache.erase(0, 0);
  fixture.text[10] ^= 1;
  std::ofstream(file, std::ios::binary) << fixture.text;
  core::SendBlock send;
  send.block.generation = 0;
  send.block.source_index = 3;
  for (const std::uint64_t ticket : {1, 2}) fixture.plane->send_block(ticket, send, fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.lost == std::vector<std::uint32_t>{0});
  for (const std::uint64_t ticket : {1, 2}) CHECK_FALSE(fixture.outcomes.made.at(ticket));
  fixture.plane->finish();
  fixture.settle();
  CHECK(fixture.outcomes.spoiled);
  CHECK_FALSE(fixture.outcomes.finished);
  CHECK(fixture.outcomes.paused == 0);
  std::ifstream left(file, std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(left), {}) == fixture.text);
}

TEST_CASE("a full disk pauses once, loses nothing and goes on by itself") {
  DataPlaneFixture fixture;
  fixture.store->write_failures = 1'000'000;
  const auto rows = fixture.fill(0);
  (void)fixture.fill(1);
  fixture.pass(kSpoolDelayFew);
  CHECK(fixture.outcomes.paused == 1);
  CHECK(fixture.outcomes.stored.empty());
  fixture.plane->decode({0, rows}, fixture.now);  // parked behind the rest
  fixture.settle();
  CHECK(fixture.outcomes.decoded.empty());
  fixture.pass(DiskQueue::kRetryInterval);  // tries, and fails again
  CHECK(fixture.outcomes.paused == 1);
  CHECK(fixture.outcomes.resumed == 0);

  fixture.store->write_failures = 0;
  fixture.pass(DiskQueue::kRetryInterval - 1);
  CHECK(fixture.outcomes.resumed == 0);
  fixture.pass(1);
  CHECK(fixture.outcomes.resumed == 1);
  CHECK(fixture.outcomes.decoded.at(0) == core::DecodeOutcome::kVerified);
  for (std::uint32_t slot = 0; slot < kN; ++slot)
    CHECK(fixture.outcomes.stored.contains({1, slot}));
}

TEST_CASE("a disk that fills up at the last write keeps the decoded generation") {
  DataPlaneFixture fixture;
  const auto rows = fixture.fill(2);
  fixture.store->write_failures = 1;
  fixture.plane->decode({2, rows}, fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.paused == 1);
  CHECK(fixture.outcomes.decoded.empty());
  fixture.pass(DiskQueue::kRetryInterval);
  CHECK(fixture.outcomes.resumed == 1);
  CHECK(fixture.outcomes.decoded.at(2) == core::DecodeOutcome::kVerified);
}

TEST_CASE("closing spools what waits, and tells when all is durable") {
  DataPlaneFixture fixture;
  fixture.plane->store_row(fixture.row(0, 0, 1), fixture.now);
  bool closed = false;
  fixture.plane->close(fixture.now, [&] { closed = true; });
  fixture.settle();
  CHECK(closed);
  CHECK(fixture.store->rows_written == 1);
  fixture.open(1 << 20);
  CHECK(fixture.resumed.rows.size() == 1);
}

TEST_CASE("closing does not wait for a disk that takes nothing") {
  DataPlaneFixture fixture;
  fixture.store->write_failures = 1'000'000;
  fixture.plane->store_row(fixture.row(0, 0, 1), fixture.now);
  bool closed = false;
  fixture.plane->close(fixture.now, [&] { closed = true; });
  fixture.settle();
  CHECK(closed);
}

TEST_CASE("dropped rows are forgotten in memory and in the spool") {
  DataPlaneFixture fixture;
  fixture.plane->store_row(fixture.row(0, 0, 1), fixture.now);
  fixture.pass(kSpoolDelayFew);
  fixture.plane->store_row(fixture.row(0, 1, 1), fixture.now);
  fixture.plane->drop_rows(0);
  fixture.settle();
  CHECK(fixture.outcomes.stored ==
        std::set<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}, {0, 1}});
  fixture.open(1 << 20);
  CHECK(fixture.resumed.rows.empty());
}

TEST_CASE("a drop that fails and is tried again spares the rows that came after it") {
  for (const int failures : {1, 2}) {
    CAPTURE(failures);
    DataPlaneFixture fixture;
    fixture.plane->store_row(fixture.row(0, 0, 1), fixture.now);
    fixture.pass(kSpoolDelayFew);
    fixture.store->drop_failures = failures;
    fixture.plane->drop_rows(0);
    // Spooled before the drop's failure has come back.
    fixture.plane->store_row(fixture.row(0, 3, 1), fixture.now);
    fixture.now += kSpoolDelayFew;
    fixture.plane->wake(fixture.now);
    fixture.settle();
    CHECK(fixture.outcomes.paused == 1);
    for (int i = 0; i < failures; ++i) fixture.pass(DiskQueue::kRetryInterval);
    CHECK(fixture.outcomes.resumed == 1);
    fixture.open(1 << 20);
    REQUIRE(fixture.resumed.rows.size() == 1);
    CHECK(fixture.resumed.rows[0].slot == 3);
  }
}

TEST_CASE("more work than the pool takes waits its turn") {
  DataPlaneFixture fixture;  // its pool takes 64 tasks
  for (std::uint64_t ticket = 1; ticket <= 3; ++ticket) {
    core::SendBlock send;
    send.block.generation = static_cast<std::uint32_t>(ticket - 1);
    send.slots = {0};
    send.mix = {2};
    fixture.plane->send_block(ticket, send, fixture.now);
  }
  for (int i = 0; i < 300; ++i) fixture.plane->make_leaves({1, 0});
  for (int i = 0; i < 100; ++i) {
    fixture.plane->store_row(fixture.row(1, 0, 1), fixture.now);
    fixture.fill(2);
    fixture.plane->drop_rows(2);
    fixture.outcomes.stored.clear();
  }
  fixture.settle();
  CHECK(fixture.outcomes.made.size() == 3);
}

}  // namespace
}  // namespace firn::app
