// Verified generations that turn out to be changed, damaged or unreadable.
#include <doctest/doctest.h>

#include <filesystem>

#include "codec/encode.h"
#include "tests/app/coding/data_plane_bench.h"

namespace firn::app {
namespace {

using tests::DataPlaneBench;

constexpr std::uint32_t kN = DataPlaneBench::kN;

std::vector<std::uint8_t> bytes_of(const proto::Payload& payload) {
  return {payload.bytes().begin(), payload.bytes().end()};
}

TEST_CASE("a file that changed underneath is not served and its generation is lost") {
  DataPlaneBench bench;
  bench.serve();
  {
    std::fstream file(bench.folder.path() + "/file",
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(10);
    file.put(static_cast<char>(bench.text[10] ^ 1));
  }
  core::SendBlock send;
  send.block.generation = 0;
  send.block.source_index = 3;
  bench.plane->send_block(1, send, bench.now);
  send.block.generation = 1;
  bench.plane->send_block(2, send, bench.now);
  bench.settle();
  CHECK(bench.outcomes.lost == std::vector<std::uint32_t>{0});
  CHECK_FALSE(bench.outcomes.made.at(1));
  CHECK(bytes_of(bench.outcomes.made.at(2)) == bench.combination(1, codec::unit_vector(kN, 3)));
}

TEST_CASE("a generation damaged in the work folder is wanted again, and finishing waits for it") {
  DataPlaneBench bench;
  for (std::uint32_t g = 0; g < 2; ++g) bench.plane->decode({g, bench.fill(g).vectors}, bench.now);
  bench.settle();
  const auto rows = bench.fill(2);
  bench.cache.erase(0, 1);
  {
    const std::string work = "/.firn/" + bench.manifest.id.text() + "/data/file";
    std::fstream file(bench.target() + work, std::ios::in | std::ios::out | std::ios::binary);
    REQUIRE(file.good());
    file.seekp(kN * DataPlaneBench::kK + 5);
    file.put(static_cast<char>(bench.text[kN * DataPlaneBench::kK + 5] ^ 1));
  }
  core::SendBlock send;
  send.block.generation = 1;
  send.block.source_index = 3;
  bench.plane->send_block(1, send, bench.now);
  bench.plane->decode({2, rows.vectors}, bench.now);
  bench.settle();
  CHECK(bench.outcomes.wanted_again == std::vector<std::uint32_t>{1});
  CHECK_FALSE(bench.outcomes.made.at(1));
  bench.plane->finish();
  bench.settle();
  CHECK_FALSE(bench.outcomes.finished);
  CHECK(bench.outcomes.paused == 0);
  bench.outcomes.stored.clear();
  bench.plane->decode({1, bench.fill(1).vectors}, bench.now);
  bench.settle();
  bench.plane->finish();
  bench.settle();
  CHECK(bench.outcomes.finished);
}

// A source, of whose first generation one block is asked for at a time.
struct ReadingBench : DataPlaneBench {
  ReadingBench() { serve(); }
  void ask(std::uint64_t ticket) {
    core::SendBlock send;
    send.block.generation = 0;
    send.block.source_index = 3;
    plane->send_block(ticket, send, now);
    settle();
  }
  void check_made(std::uint64_t ticket) {
    CHECK(bytes_of(outcomes.made.at(ticket)) == combination(0, codec::unit_vector(kN, 3)));
  }
};

TEST_CASE("a generation that cannot be read for a moment is read again") {
  ReadingBench bench;
  bench.store->read_failures = 2;
  bench.ask(1);
  bench.ask(2);  // does not try again at once
  CHECK(bench.store->generations_read == 1);
  CHECK(bench.plane->next_wake() == bench.now + BlockMaker::kReadInterval);
  bench.pass(BlockMaker::kReadInterval);
  CHECK(bench.outcomes.made.empty());
  bench.pass(BlockMaker::kReadInterval);
  for (const std::uint64_t ticket : {1, 2}) bench.check_made(ticket);
  CHECK(bench.outcomes.lost.empty());
  CHECK(bench.plane->next_wake() == core::kNever);
}

TEST_CASE("a generation that cannot be read for a while is lost, and looked for less and less") {
  ReadingBench bench;
  bench.store->read_failures = 1'000'000;
  bench.ask(1);
  for (unsigned i = 1; i < BlockMaker::kReadTries; ++i) {
    CHECK(bench.outcomes.lost.empty());
    bench.pass(BlockMaker::kReadInterval);
  }
  CHECK(bench.outcomes.lost == std::vector<std::uint32_t>{0});
  CHECK_FALSE(bench.outcomes.made.at(1));
  const int before = bench.store->generations_read;
  for (int i = 0; i < 1000; ++i) bench.pass(core::kSecond);
  const int tried = bench.store->generations_read - before;
  CHECK(tried >= 15);
  CHECK(tried <= 25);
  CHECK(bench.outcomes.regained.empty());
  bench.store->read_failures = 0;
  bench.pass(60 * core::kSecond);
  CHECK(bench.outcomes.regained == std::vector<std::uint32_t>{0});
  bench.ask(2);
  bench.check_made(2);
  CHECK(bench.plane->next_wake() == core::kNever);
}

TEST_CASE("a generation whose file is moved away is lost at once, and regained when it is back") {
  ReadingBench bench;
  const std::string file = bench.folder.path() + "/file";
  std::filesystem::rename(file, file + ".away");
  bench.ask(1);
  CHECK(bench.outcomes.lost == std::vector<std::uint32_t>{0});
  std::filesystem::rename(file + ".away", file);
  bench.pass(LostGenerations::kProbeIntervalMin);
  CHECK(bench.outcomes.regained == std::vector<std::uint32_t>{0});
  bench.ask(2);
  bench.check_made(2);
}

TEST_CASE("the background check loses a generation whose file changed, and reads each once") {
  DataPlaneBench bench;
  bench.serve();
  {
    std::fstream file(bench.folder.path() + "/file",
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(10);
    file.put(static_cast<char>(bench.text[10] ^ 1));
  }
  bench.plane->check_in_background();
  // Between two of them it rests as long as the reading took, in real time.
  for (std::uint32_t g = 0; g < DataPlaneBench::kGenerations; ++g) bench.pass(600 * core::kSecond);
  CHECK(bench.store->generations_read == static_cast<int>(DataPlaneBench::kGenerations));
  CHECK(bench.outcomes.lost == std::vector<std::uint32_t>{0});
  bench.pass(600 * core::kSecond);
  CHECK(bench.store->generations_read == static_cast<int>(DataPlaneBench::kGenerations));
}

}  // namespace
}  // namespace firn::app
