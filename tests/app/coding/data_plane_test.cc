#include <doctest/doctest.h>

#include <filesystem>

#include "codec/encode.h"
#include "tests/app/coding/data_plane_bench.h"

namespace firn::app {
namespace {

using tests::DataPlaneBench;
using tests::Outcomes;

constexpr std::uint32_t kN = DataPlaneBench::kN;

std::vector<std::uint8_t> bytes_of(const proto::Payload& payload) {
  return {payload.bytes().begin(), payload.bytes().end()};
}

TEST_CASE("a full generation is decoded, checked and written, without touching the spool") {
  DataPlaneBench bench;
  for (std::uint32_t g = 0; g < DataPlaneBench::kGenerations; ++g)
    bench.plane->decode({g, bench.fill(g).vectors}, bench.now);
  bench.settle();
  for (std::uint32_t g = 0; g < DataPlaneBench::kGenerations; ++g) {
    CHECK(bench.outcomes.decoded.at(g) == core::DecodeOutcome::kVerified);
    for (std::uint32_t slot = 0; slot < kN; ++slot)
      CHECK(bench.outcomes.stored.contains({g, slot}));
  }
  bench.pass(core::kSecond);
  CHECK(bench.store->rows_written == 0);
  bench.plane->finish();
  bench.settle();
  CHECK(bench.outcomes.finished);
  std::ifstream file(bench.target() + "/file", std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == bench.text);
}

TEST_CASE(
    "a generation with fewer blocks is spooled, decoded, served and recoded like a full one") {
  const std::uint32_t last = DataPlaneBench::kGenerations - 1;
  DataPlaneBench bench(1 << 20, 1 << 20, kN * DataPlaneBench::kK * last + 1234);
  REQUIRE(bench.blocks_in(last) == 2);
  bench.plane->store_row(bench.row(last, 0, 1), bench.now);
  bench.pass(kSpoolDelayFew);
  CHECK(bench.store->rows_written == 1);
  bench.open(1 << 20);
  REQUIRE(bench.resumed.rows.size() == 1);
  CHECK(bench.resumed.rows[0].vector.size() == 2);
  bench.outcomes.stored.clear();

  for (std::uint32_t g = 0; g <= last; ++g) {
    if (g == last) bench.plane->drop_rows(g);
    bench.plane->decode({g, bench.fill(g).vectors}, bench.now);
  }
  bench.settle();
  for (std::uint32_t g = 0; g <= last; ++g)
    CHECK(bench.outcomes.decoded.at(g) == core::DecodeOutcome::kVerified);
  core::SendBlock send;
  send.block.generation = last;
  send.block.coefficients = {3, 7};
  bench.plane->send_block(9, send, bench.now);
  bench.settle();
  CHECK(bytes_of(bench.outcomes.made.at(9)) == bench.combination(last, {3, 7}));
  bench.plane->finish();
  bench.settle();
  std::ifstream file(bench.target() + "/file", std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(file), {}) == bench.text);
}

TEST_CASE("rows are spooled after a while, reported then, and found again after a kill") {
  DataPlaneBench bench;
  const auto first = bench.row(1, 0, 1);
  bench.plane->store_row(first, bench.now);
  bench.pass(kSpoolDelayFew - 1);
  CHECK(bench.outcomes.stored.empty());
  bench.pass(1);
  CHECK(bench.outcomes.stored.contains({1, 0}));
  CHECK(bench.store->rows_written == 1);

  bench.open(1 << 20);
  REQUIRE(bench.resumed.rows.size() == 1);
  CHECK(bench.resumed.rows[0].vector == *first.vector);
  CHECK(bench.resumed.rows[0].sender == first.sender);
}

TEST_CASE("a false row makes the decode corrupt; evidence finds exactly its sender") {
  DataPlaneBench bench;
  const auto polluted = bench.fill(0, {3, 6});
  bench.plane->decode({0, polluted.vectors}, bench.now);
  bench.settle();
  REQUIRE(bench.outcomes.decoded.at(0) == core::DecodeOutcome::kCorrupt);
  bench.plane->keep_evidence(polluted, bench.now);
  bench.plane->drop_rows(0);
  bench.settle();
  for (std::uint32_t slot = 0; slot < kN; ++slot) CHECK(bench.outcomes.stored.contains({0, slot}));

  bench.outcomes.stored.clear();
  bench.plane->decode({0, bench.fill(0).vectors}, bench.now);
  bench.settle();
  REQUIRE(bench.outcomes.decoded.at(0) == core::DecodeOutcome::kVerified);
  bench.plane->check_evidence(0);
  bench.settle();
  const std::set<PeerId> guilty(bench.outcomes.guilty.at(0).begin(),
                                bench.outcomes.guilty.at(0).end());
  CHECK(guilty == std::set<PeerId>{polluted.senders[3], polluted.senders[6]});
}

TEST_CASE("evidence that lies in the spool alone is found as well") {
  DataPlaneBench bench;
  const auto polluted = bench.fill(0, {5});
  bench.pass(kSpoolDelayFew);
  bench.open(1 << 20);  // nothing in memory any more
  bench.plane->decode({0, polluted.vectors}, bench.now);
  bench.settle();
  REQUIRE(bench.outcomes.decoded.at(0) == core::DecodeOutcome::kCorrupt);
  bench.plane->keep_evidence(polluted, bench.now);
  bench.plane->drop_rows(0);
  bench.settle();
  bench.outcomes.stored.clear();
  bench.plane->decode({0, bench.fill(0).vectors}, bench.now);
  bench.plane->check_evidence(0);
  bench.settle();
  CHECK(bench.outcomes.guilty.at(0) == std::vector<PeerId>{polluted.senders[5]});
}

TEST_CASE("evidence that was never kept accuses nobody") {
  DataPlaneBench bench;
  bench.plane->check_evidence(2);
  bench.settle();
  CHECK(bench.outcomes.guilty.at(2).empty());
}

TEST_CASE("rows past the memory bound are evicted and read back for decoding") {
  DataPlaneBench bench(3 * DataPlaneBench::kK);
  const auto rows = bench.fill(0);
  bench.settle();
  bench.pass(kSpoolDelayFew);
  CHECK(bench.store->rows_written == static_cast<int>(kN));
  bench.plane->decode({0, rows.vectors}, bench.now);
  bench.settle();
  CHECK(bench.outcomes.decoded.at(0) == core::DecodeOutcome::kVerified);
  CHECK(bench.store->rows_read >= static_cast<int>(kN) - 3);
}

TEST_CASE("a decode whose rows are gone fails and is told so") {
  DataPlaneBench bench;
  core::Decode decode{0, {}};
  for (std::uint32_t slot = 0; slot < kN; ++slot)
    decode.vectors.push_back(bench.row(0, slot, 1).vector);
  bench.plane->decode(decode, bench.now);
  bench.settle();
  CHECK(bench.outcomes.decoded.at(0) == core::DecodeOutcome::kFailed);
}

TEST_CASE("a source sends source blocks as they are and dense combinations") {
  DataPlaneBench bench;
  bench.serve();
  std::map<std::uint64_t, std::vector<std::uint8_t>> expected;
  std::uint64_t ticket = 0;
  for (std::uint32_t g = 0; g < DataPlaneBench::kGenerations; ++g) {
    for (std::uint32_t i = 0; i < 100; ++i) {
      core::SendBlock send;
      send.block.generation = g;
      std::vector<std::uint8_t> vector = codec::random_vector(kN, bench.random);
      if (i % 2 == 0) {
        send.block.source_index = i % kN;
        vector = codec::unit_vector(kN, i % kN);
      } else {
        send.block.coefficients = vector;
      }
      expected[++ticket] = bench.combination(g, vector);
      bench.plane->send_block(ticket, std::move(send), bench.now);
    }
  }
  bench.settle();
  REQUIRE(bench.outcomes.made.size() == expected.size());
  for (const auto& [t, payload] : expected) CHECK(bytes_of(bench.outcomes.made.at(t)) == payload);
  CHECK(bench.store->generations_read == static_cast<int>(DataPlaneBench::kGenerations));
}

TEST_CASE("a source reads the next generation ahead") {
  DataPlaneBench bench;
  bench.serve();
  bench.plane->serve_everything();
  core::SendBlock send;
  send.block.generation = 0;
  send.block.source_index = 0;
  bench.plane->send_block(1, send, bench.now);
  bench.settle();
  CHECK(bench.cache.find(0, 1) != nullptr);
  CHECK(bench.store->generations_read == 2);
  send.block.generation = DataPlaneBench::kGenerations - 1;  // nothing comes after the last
  bench.plane->send_block(2, send, bench.now);
  bench.settle();
  CHECK(bench.store->generations_read == 3);
}

TEST_CASE("with room for few generations only the front is read ahead") {
  DataPlaneBench bench(1 << 20, DataPlaneBench::kN * DataPlaneBench::kK);  // one
  bench.serve();
  bench.plane->serve_everything();
  core::SendBlock send;
  send.block.source_index = 0;
  std::uint64_t ticket = 0;
  for (const std::uint32_t generation : {0, 2, 0}) {
    send.block.generation = generation;
    bench.plane->send_block(++ticket, send, bench.now);
    bench.settle();
  }
  CHECK(bench.store->generations_read == 4);  // 0 and 1 ahead, 2, 0
}

TEST_CASE("no sync is started behind a finish, which would find the work folder gone") {
  DataPlaneBench bench;
  for (std::uint32_t g = 0; g < DataPlaneBench::kGenerations; ++g)
    bench.plane->decode({g, bench.fill(g).vectors}, bench.now);
  bench.settle();
  bench.plane->finish();
  bench.now += Durability::kSyncInterval;
  bench.plane->wake(bench.now);  // a sync is due
  bench.settle();
  CHECK(bench.outcomes.finished);
  CHECK(bench.store->syncs == 0);
  CHECK(bench.outcomes.paused == 0);
}

TEST_CASE(
    "a file edited during its download is left alone, and the end says so instead of success") {
  DataPlaneBench bench;
  for (std::uint32_t g = 0; g < DataPlaneBench::kGenerations; ++g)
    bench.plane->decode({g, bench.fill(g).vectors}, bench.now);
  bench.settle();
  bench.pass(Durability::kSyncInterval);  // the file gets its final name
  const std::string file = bench.target() + "/file";
  REQUIRE(std::filesystem::exists(file));
  bench.cache.erase(0, 0);
  bench.text[10] ^= 1;
  std::ofstream(file, std::ios::binary) << bench.text;
  core::SendBlock send;
  send.block.generation = 0;
  send.block.source_index = 3;
  for (const std::uint64_t ticket : {1, 2}) bench.plane->send_block(ticket, send, bench.now);
  bench.settle();
  CHECK(bench.outcomes.lost == std::vector<std::uint32_t>{0});
  for (const std::uint64_t ticket : {1, 2}) CHECK_FALSE(bench.outcomes.made.at(ticket));
  bench.plane->finish();
  bench.settle();
  CHECK(bench.outcomes.spoiled);
  CHECK_FALSE(bench.outcomes.finished);
  CHECK(bench.outcomes.paused == 0);
  std::ifstream left(file, std::ios::binary);
  CHECK(std::string(std::istreambuf_iterator<char>(left), {}) == bench.text);
}

TEST_CASE("a full disk pauses once, loses nothing and goes on by itself") {
  DataPlaneBench bench;
  bench.store->write_failures = 1'000'000;
  const auto rows = bench.fill(0);
  (void)bench.fill(1);
  bench.pass(kSpoolDelayFew);
  CHECK(bench.outcomes.paused == 1);
  CHECK(bench.outcomes.stored.empty());
  bench.plane->decode({0, rows.vectors}, bench.now);  // parked behind the rest
  bench.settle();
  CHECK(bench.outcomes.decoded.empty());
  bench.pass(DiskQueue::kRetryInterval);  // tries, and fails again
  CHECK(bench.outcomes.paused == 1);
  CHECK(bench.outcomes.resumed == 0);

  bench.store->write_failures = 0;
  bench.pass(DiskQueue::kRetryInterval - 1);
  CHECK(bench.outcomes.resumed == 0);
  bench.pass(1);
  CHECK(bench.outcomes.resumed == 1);
  CHECK(bench.outcomes.decoded.at(0) == core::DecodeOutcome::kVerified);
  for (std::uint32_t slot = 0; slot < kN; ++slot) CHECK(bench.outcomes.stored.contains({1, slot}));
}

TEST_CASE("a disk that fills up at the last write keeps the decoded generation") {
  DataPlaneBench bench;
  const auto rows = bench.fill(2);
  bench.store->write_failures = 1;
  bench.plane->decode({2, rows.vectors}, bench.now);
  bench.settle();
  CHECK(bench.outcomes.paused == 1);
  CHECK(bench.outcomes.decoded.empty());
  bench.pass(DiskQueue::kRetryInterval);
  CHECK(bench.outcomes.resumed == 1);
  CHECK(bench.outcomes.decoded.at(2) == core::DecodeOutcome::kVerified);
}

TEST_CASE("closing spools what waits, and tells when all is durable") {
  DataPlaneBench bench;
  bench.plane->store_row(bench.row(0, 0, 1), bench.now);
  bool closed = false;
  bench.plane->close(bench.now, [&] { closed = true; });
  bench.settle();
  CHECK(closed);
  CHECK(bench.store->rows_written == 1);
  bench.open(1 << 20);
  CHECK(bench.resumed.rows.size() == 1);
}

TEST_CASE("closing does not wait for a disk that takes nothing") {
  DataPlaneBench bench;
  bench.store->write_failures = 1'000'000;
  bench.plane->store_row(bench.row(0, 0, 1), bench.now);
  bool closed = false;
  bench.plane->close(bench.now, [&] { closed = true; });
  bench.settle();
  CHECK(closed);
}

TEST_CASE("dropped rows are forgotten in memory and in the spool") {
  DataPlaneBench bench;
  bench.plane->store_row(bench.row(0, 0, 1), bench.now);
  bench.pass(kSpoolDelayFew);
  bench.plane->store_row(bench.row(0, 1, 1), bench.now);
  bench.plane->drop_rows(0);
  bench.settle();
  CHECK(bench.outcomes.stored == std::set<std::pair<std::uint32_t, std::uint32_t>>{{0, 0}, {0, 1}});
  bench.open(1 << 20);
  CHECK(bench.resumed.rows.empty());
}

TEST_CASE("a drop that fails and is tried again spares the rows that came after it") {
  for (const int failures : {1, 2}) {
    CAPTURE(failures);
    DataPlaneBench bench;
    bench.plane->store_row(bench.row(0, 0, 1), bench.now);
    bench.pass(kSpoolDelayFew);
    bench.store->drop_failures = failures;
    bench.plane->drop_rows(0);
    // Spooled before the drop's failure has come back.
    bench.plane->store_row(bench.row(0, 3, 1), bench.now);
    bench.now += kSpoolDelayFew;
    bench.plane->wake(bench.now);
    bench.settle();
    CHECK(bench.outcomes.paused == 1);
    for (int i = 0; i < failures; ++i) bench.pass(DiskQueue::kRetryInterval);
    CHECK(bench.outcomes.resumed == 1);
    bench.open(1 << 20);
    REQUIRE(bench.resumed.rows.size() == 1);
    CHECK(bench.resumed.rows[0].slot == 3);
  }
}

TEST_CASE("more work than the pool takes waits its turn") {
  DataPlaneBench bench;  // its pool takes 64 tasks
  for (std::uint64_t ticket = 1; ticket <= 3; ++ticket) {
    core::SendBlock send;
    send.block.generation = static_cast<std::uint32_t>(ticket - 1);
    send.slots = {0};
    send.mix = {2};
    bench.plane->send_block(ticket, send, bench.now);
  }
  for (int i = 0; i < 300; ++i) bench.plane->check_evidence(0);
  for (int i = 0; i < 100; ++i) {
    bench.plane->store_row(bench.row(1, 0, 1), bench.now);
    bench.plane->keep_evidence(bench.fill(2), bench.now);
    bench.plane->drop_rows(2);
    bench.outcomes.stored.clear();
  }
  bench.settle();
  CHECK(bench.outcomes.made.size() == 3);
}

}  // namespace
}  // namespace firn::app
