// Verified generations that turn out to be changed, damaged or unreadable.
#include <doctest/doctest.h>

#include <filesystem>

#include "codec/encode.h"
#include "tests/app/coding/data_plane_fixture.h"

namespace firn::app {
namespace {

using tests::bytes_of;
using tests::DataPlaneFixture;
using tests::kN;

// Changes a byte of generation 0 on the disk; the second time it is right again.
void flip(const std::string& path) {
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file.seekg(10);
  const int byte = file.get();
  file.seekp(10);
  file.put(static_cast<char>(byte ^ 1));
}

TEST_CASE("a file that changed underneath is not served and its generation is lost") {
  DataPlaneFixture fixture;
  fixture.serve();
  flip(fixture.folder.path() + "/file");
  core::SendBlock send;
  send.block.generation = 0;
  send.block.source_index = 3;
  fixture.plane->send_block(1, send, fixture.now);
  send.block.generation = 1;
  fixture.plane->send_block(2, send, fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.lost == std::vector<std::uint32_t>{0});
  CHECK_FALSE(fixture.outcomes.made.at(1));
  CHECK(bytes_of(fixture.outcomes.made.at(2)) == fixture.combination(1, codec::unit_vector(kN, 3)));
}

TEST_CASE("a generation damaged in the work folder is wanted again, and finishing waits for it") {
  DataPlaneFixture fixture;
  for (std::uint32_t g = 0; g < 2; ++g) fixture.plane->decode({g, fixture.fill(g)}, fixture.now);
  fixture.settle();
  const auto rows = fixture.fill(2);
  fixture.cache.erase(0, 1);
  {
    const std::string work = "/.firn/" + fixture.manifest.id.text() + "/data/file";
    std::fstream file(fixture.target() + work, std::ios::in | std::ios::out | std::ios::binary);
    REQUIRE(file.good());
    file.seekp(kN * DataPlaneFixture::kK + 5);
    file.put(static_cast<char>(fixture.text[kN * DataPlaneFixture::kK + 5] ^ 1));
  }
  core::SendBlock send;
  send.block.generation = 1;
  send.block.source_index = 3;
  fixture.plane->send_block(1, send, fixture.now);
  fixture.plane->decode({2, rows}, fixture.now);
  fixture.settle();
  CHECK(fixture.outcomes.wanted_again == std::vector<std::uint32_t>{1});
  CHECK_FALSE(fixture.outcomes.made.at(1));
  fixture.plane->finish();
  fixture.settle();
  CHECK_FALSE(fixture.outcomes.finished);
  CHECK(fixture.outcomes.paused == 0);
  fixture.outcomes.stored.clear();
  fixture.plane->decode({1, fixture.fill(1)}, fixture.now);
  fixture.settle();
  fixture.plane->finish();
  fixture.settle();
  CHECK(fixture.outcomes.finished);
}

// A source, of whose first generation one block is asked for at a time.
struct ReadingFixture : DataPlaneFixture {
  ReadingFixture() { serve(); }
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
  ReadingFixture fixture;
  fixture.store->read_failures = 2;
  fixture.ask(1);
  fixture.ask(2);  // does not try again at once
  CHECK(fixture.store->generations_read == 1);
  CHECK(fixture.plane->next_wake() == fixture.now + BlockMaker::kReadInterval);
  fixture.pass(BlockMaker::kReadInterval);
  CHECK(fixture.outcomes.made.empty());
  fixture.pass(BlockMaker::kReadInterval);
  for (const std::uint64_t ticket : {1, 2}) fixture.check_made(ticket);
  CHECK(fixture.outcomes.lost.empty());
  CHECK(fixture.plane->next_wake() == core::kNever);
}

TEST_CASE("a generation that cannot be read for a while is lost, and tried now and then") {
  ReadingFixture fixture;
  fixture.store->read_failures = 1'000'000;
  fixture.ask(1);
  for (unsigned i = 1; i < BlockMaker::kReadTries; ++i) {
    CHECK(fixture.outcomes.lost.empty());
    fixture.pass(BlockMaker::kReadInterval);
  }
  CHECK(fixture.outcomes.lost == std::vector<std::uint32_t>{0});
  CHECK_FALSE(fixture.outcomes.made.at(1));
  const int before = fixture.store->generations_read;
  for (int i = 0; i < 1000; ++i) fixture.pass(core::kSecond);
  const int tried = fixture.store->generations_read - before;
  CHECK(tried >= 1000 * core::kSecond / LostGenerations::kLookIntervalMax - 1);
  CHECK(tried <= 1000 * core::kSecond / LostGenerations::kLookInterval);
  CHECK(fixture.outcomes.regained.empty());
  fixture.store->read_failures = 0;
  fixture.pass(LostGenerations::kLookIntervalMax);
  CHECK(fixture.outcomes.regained == std::vector<std::uint32_t>{0});
  fixture.ask(2);
  fixture.check_made(2);
  CHECK(fixture.plane->next_wake() == core::kNever);
}

TEST_CASE("a generation is not lost for want of descriptors, however long there are none") {
  ReadingFixture fixture;
  fixture.store->read_failure = ErrorCode::kBusy;
  fixture.store->read_failures = 3 * BlockMaker::kReadTries;
  fixture.ask(1);
  while (fixture.store->read_failures > 0) fixture.pass(BlockMaker::kReadInterval);
  CHECK(fixture.outcomes.lost.empty());
  fixture.pass(BlockMaker::kReadInterval);
  fixture.check_made(1);
}

TEST_CASE("what is wrong with a file costs its generation, until it is right again") {
  namespace fs = std::filesystem;
  ReadingFixture fixture;
  const std::string file = fixture.folder.path() + "/file", other = file + ".other";
  std::function<void()> restore;
  SUBCASE("moved away") {
    fs::rename(file, other);
    restore = [&] { fs::rename(other, file); };
  }
  SUBCASE("changed") {
    flip(file);
    restore = [&] { flip(file); };
  }
  SUBCASE("cut, and replaced by another file") {
    fs::copy_file(file, other);
    fs::resize_file(file, 100);
    restore = [&] { fs::rename(other, file); };
  }
  SUBCASE("cut, and written again") {
    fs::resize_file(file, 100);
    restore = [&] { std::ofstream(file, std::ios::binary) << fixture.text; };
  }
  fixture.ask(1);
  CHECK(fixture.outcomes.lost == std::vector<std::uint32_t>{0});
  CHECK_FALSE(fixture.outcomes.made.at(1));
  fixture.pass(LostGenerations::kLookIntervalMax);
  CHECK(fixture.outcomes.regained.empty());
  restore();
  fixture.pass(LostGenerations::kLookIntervalMax);
  CHECK(fixture.outcomes.regained == std::vector<std::uint32_t>{0});
  fixture.ask(2);
  fixture.check_made(2);
  CHECK(fixture.plane->next_wake() == core::kNever);
}

TEST_CASE("the background check reads each generation once, and loses those that are not right") {
  DataPlaneFixture fixture;
  fixture.serve();
  const std::string file = fixture.folder.path() + "/file";
  std::vector<std::uint32_t> lost;
  SUBCASE("all are right") {}
  SUBCASE("a file changed") {
    flip(file);
    lost = {0};
  }
  SUBCASE("a file is missing") {
    std::filesystem::rename(file, file + ".away");
    lost = {0, 1, 2};
  }
  fixture.plane->check_in_background(std::vector<bool>(DataPlaneFixture::kGenerations, true));
  // Between two of them it rests as long as the reading took, in real time.
  for (std::uint32_t g = 0; g <= DataPlaneFixture::kGenerations; ++g)
    fixture.pass(600 * core::kSecond);
  CHECK(fixture.outcomes.lost == lost);
  CHECK(fixture.plane->found_all_right() == lost.empty());
  if (lost.empty())
    CHECK(fixture.store->generations_read == static_cast<int>(DataPlaneFixture::kGenerations));
}

TEST_CASE("the background check of a part reads what is held, and misses nothing else") {
  DataPlaneFixture fixture;
  fixture.serve();
  fixture.plane->check_in_background({false, true, false});
  for (int reads = 0; reads < 2; ++reads) fixture.pass(600 * core::kSecond);
  CHECK(fixture.store->generations_read == 1);
  CHECK(fixture.outcomes.lost.empty());
  CHECK(fixture.plane->found_all_right());
}

}  // namespace
}  // namespace firn::app
