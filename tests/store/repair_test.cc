// Files at their final paths that differ from the content, brought back to what they should be.
#include <doctest/doctest.h>

#include <filesystem>

#include "client/store/content_store.h"
#include "client/store/disk_store.h"
#include "tests/store/memory_disk.h"
#include "tests/store/sample_content.h"

namespace firn::store::repair_test {
namespace {

namespace fs = std::filesystem;
using test::MemoryDisk;
using test::Sample;
using test::TemporaryFolder;

// Generations of 2000 bytes in blocks of 500: a has 0 to 3; the small ones share 4 and 5.
const Sample& sample() {
  static const Sample kSample = test::make_sample(
      "r",
      {{"a", 8000}, {"b", 1200}, {"c", 700}, {"d", 1100}, {"link", 0, false, "a"}, {"zero", 0}}, 4,
      500);
  return kSample;
}

void put(const TemporaryFolder& dir, std::uint32_t file, const std::vector<std::uint8_t>& bytes) {
  test::write_file(dir.path("r/" + sample().info().files[file].path), bytes);
}

void put_all(const TemporaryFolder& dir) {
  for (const std::uint32_t file : {0u, 1u, 2u, 3u, 5u}) put(dir, file, sample().file(file));
  fs::remove(dir.path("r/link"));
  fs::create_symlink("a", dir.path("r/link"));
}

Result<std::unique_ptr<ContentStore>> try_open(const TemporaryFolder& dir, bool repair,
                                               Resumed& resumed) {
  OpenOptions options = test::kOptions;
  options.repair = repair;
  return ContentStore::open_download(sample().manifest, dir.path(), options, resumed);
}

std::unique_ptr<ContentStore> opened(const TemporaryFolder& dir, Resumed& resumed) {
  auto store = try_open(dir, true, resumed);
  REQUIRE_MESSAGE(store.ok(), (store ? "" : store.error().message()));
  return *std::move(store);
}

void complete(ContentStore& store, const Resumed& resumed) {
  for (std::uint32_t g = 0; g < sample().count(); ++g) {
    if (!resumed.verified[g]) REQUIRE(store.write_generation(g, sample().generation(g)).ok());
  }
  const Result<bool> finished = store.finish();
  REQUIRE_MESSAGE(finished.ok(), (finished ? "" : finished.error().message()));
  CHECK(*finished);
}

void check_files(const TemporaryFolder& dir) {
  for (const std::uint32_t file : {0u, 1u, 2u, 3u, 5u}) {
    CAPTURE(file);
    CHECK(test::read_file(dir.path("r/" + sample().info().files[file].path)) ==
          sample().file(file));
  }
  CHECK(fs::read_symlink(dir.path("r/link")) == "a");
  CHECK_FALSE(fs::exists(dir.path(".firn")));
}

// Slots of generation g that are known without a download.
std::vector<std::uint32_t> known(const Resumed& resumed, std::uint32_t g) {
  std::vector<std::uint32_t> slots;
  for (const SpooledRow& row : resumed.rows) {
    if (row.generation == g) slots.push_back(row.slot);
  }
  return slots;
}

TEST_CASE("without a wish to repair, just the files that differ are named, and nothing changes") {
  const TemporaryFolder dir;
  put_all(dir);
  std::vector<std::uint8_t> changed = sample().file(2);
  changed[3] ^= 1;
  put(dir, 2, changed);
  put(dir, 3, {1, 2, 3});
  Resumed resumed;
  const auto store = try_open(dir, false, resumed);
  REQUIRE_FALSE(store.ok());
  CHECK(store.error().code == ErrorCode::kExists);
  const std::string told = store.error().message();
  CAPTURE(told);
  CHECK(told.find("2 of 6") != std::string::npos);
  CHECK(told.find("c (changed)") != std::string::npos);
  CHECK(told.find("d (short: 3 of 1100 bytes)") != std::string::npos);
  CHECK(told.find("b (") == std::string::npos);
  CHECK(told.find("--repair") != std::string::npos);
  CHECK(test::read_file(dir.path("r/c")) == changed);
  CHECK_FALSE(fs::exists(dir.path(".firn")));
}

TEST_CASE("a changed byte among small files costs the blocks of its file alone") {
  const TemporaryFolder dir;
  put_all(dir);
  std::vector<std::uint8_t> bytes = sample().file(2);
  bytes[3] ^= 1;
  put(dir, 2, bytes);
  const auto untouched = fs::last_write_time(dir.path("r/b"));
  Resumed resumed;
  auto store = opened(dir, resumed);
  CHECK_FALSE(resumed.verified[4]);
  CHECK(resumed.verified[5]);
  // c lies in bytes 1200 to 1899 of generation 4: blocks 0 and 1 are b's, 2 and 3 have some of c.
  CHECK(known(resumed, 4) == std::vector<std::uint32_t>{0, 1});
  CHECK(fs::exists(dir.path("r/b")));
  CHECK_FALSE(fs::exists(dir.path("r/c")));  // on its way
  complete(*store, resumed);
  check_files(dir);
  CHECK(fs::last_write_time(dir.path("r/b")) == untouched);
}

TEST_CASE("a file that is missing among good ones costs its own blocks") {
  const TemporaryFolder dir;
  put_all(dir);
  fs::remove(dir.path("r/c"));
  fs::remove(dir.path("r/link"));
  Resumed resumed;
  auto store = opened(dir, resumed);
  CHECK(known(resumed, 4).size() == 2);
  complete(*store, resumed);
  check_files(dir);
}

TEST_CASE("files that are short, long or changed keep their right generations") {
  const auto a = sample().file(0);
  auto changed = a, longer = a, shorter = a;
  changed[2100] ^= 1;
  longer.resize(9000, 7);
  shorter.resize(5000);
  const struct {
    std::vector<std::uint8_t> bytes;
    std::vector<bool> verified;
  } cases[] = {{changed, {true, false, true, true}},
               {longer, {true, true, true, true}},
               {shorter, {true, true, false, false}},
               {{}, {false, false, false, false}}};
  for (const auto& one : cases) {
    CAPTURE(one.bytes.size());
    const TemporaryFolder dir;
    put_all(dir);
    put(dir, 0, one.bytes);
    Resumed resumed;
    auto store = opened(dir, resumed);
    for (std::uint32_t g = 0; g < 4; ++g) CHECK(resumed.verified[g] == one.verified[g]);
    complete(*store, resumed);
    check_files(dir);
  }
}

TEST_CASE("a repair that was broken off goes on, with or without being asked again") {
  for (const bool repair : {true, false}) {
    const TemporaryFolder dir;
    put_all(dir);
    std::vector<std::uint8_t> bytes = sample().file(0);
    bytes[100] ^= 1;
    bytes[7000] ^= 1;
    put(dir, 0, bytes);
    Resumed resumed;
    {
      auto store = opened(dir, resumed);
      REQUIRE(store->write_generation(0, sample().generation(0)).ok());
    }
    auto store = try_open(dir, repair, resumed);
    REQUIRE_MESSAGE(store.ok(), (store ? "" : store.error().message()));
    CHECK(resumed.verified[0]);
    CHECK_FALSE(resumed.verified[3]);
    complete(**store, resumed);
    check_files(dir);
  }
}

TEST_CASE("what is no file is not repaired, nor a link that points elsewhere") {
  const TemporaryFolder dir;
  put_all(dir);
  fs::remove(dir.path("r/b"));
  fs::create_directories(dir.path("r/b"));
  Resumed resumed;
  {
    const auto store = try_open(dir, true, resumed);
    REQUIRE_FALSE(store.ok());
    CHECK(store.error().message().find("b (in the way)") != std::string::npos);
    CHECK(store.error().message().find("--repair") == std::string::npos);
  }
  fs::remove(dir.path("r/b"));
  put(dir, 1, sample().file(1));
  fs::remove(dir.path("r/link"));
  fs::create_symlink("elsewhere", dir.path("r/link"));
  const auto store = try_open(dir, true, resumed);
  REQUIRE_FALSE(store.ok());
  CHECK(store.error().message().find("link (changed)") != std::string::npos);
  CHECK(fs::read_symlink(dir.path("r/link")) == "elsewhere");
}

// A download of which a is finished and the rest is not.
void finish_a(const TemporaryFolder& dir) {
  Resumed resumed;
  auto store = ContentStore::open_download(sample().manifest, dir.path(), test::kOptions, resumed);
  REQUIRE(store.ok());
  for (std::uint32_t g = 0; g < 4; ++g)
    REQUIRE((*store)->write_generation(g, sample().generation(g)).ok());
  REQUIRE((*store)->sync().ok());
  REQUIRE(fs::exists(dir.path("r/a")));
}

void damage_a(const TemporaryFolder& dir, const std::vector<std::size_t>& places) {
  std::vector<std::uint8_t> bytes = sample().file(0);
  for (const std::size_t place : places) bytes[place] ^= 1;
  fs::permissions(dir.path("r/a"), fs::perms::owner_all);
  put(dir, 0, bytes);
}

TEST_CASE("a repair looks at every byte of finished files, whatever the journal says of them") {
  const TemporaryFolder dir;
  finish_a(dir);
  damage_a(dir, {100, 7000});
  Resumed resumed;
  auto store = opened(dir, resumed);
  CHECK(resumed.verified[1]);
  CHECK_FALSE(resumed.verified[0]);
  CHECK_FALSE(resumed.verified[3]);
  complete(*store, resumed);
  check_files(dir);
}

TEST_CASE("a loss that was told does not hide others") {
  const TemporaryFolder dir;
  finish_a(dir);
  damage_a(dir, {100, 7000});
  Resumed resumed;
  {
    auto store =
        ContentStore::open_download(sample().manifest, dir.path(), test::kOptions, resumed);
    REQUIRE(store.ok());
    CHECK_FALSE((*store)->lose_generation(0));  // a peer has asked for it
  }
  auto store = opened(dir, resumed);
  CHECK_FALSE(resumed.verified[0]);
  CHECK_FALSE(resumed.verified[3]);
  complete(*store, resumed);
  check_files(dir);
}

TEST_CASE("a repair stopped at any poll leaves nothing that is believed and false") {
  for (int polls = 0;; ++polls) {
    const TemporaryFolder dir;
    finish_a(dir);
    damage_a(dir, {100, 7000});
    if (polls % 2 == 1) fs::resize_file(dir.path("r/a"), 5000);
    OpenOptions options = test::kOptions;
    options.repair = true;
    int left = polls;
    options.cancelled = [&] { return left-- <= 0; };
    Resumed resumed;
    const bool stopped =
        !ContentStore::open_download(sample().manifest, dir.path(), options, resumed).ok();
    CAPTURE(polls);
    auto store = opened(dir, resumed);
    CHECK_FALSE(resumed.verified[0]);
    CHECK_FALSE(resumed.verified[3]);
    complete(*store, resumed);
    check_files(dir);
    if (!stopped) break;
  }
}

// With `linked`, a damaged file has another name besides.
void kill_at_any_change(bool linked) {
  std::uint64_t changes = 0;
  for (std::uint64_t cut = 0; changes == 0 || cut < changes; ++cut) {
    MemoryDisk disk;
    const Sample& s = sample();
    for (const std::uint32_t file : {0u, 1u, 2u, 3u, 5u})
      disk.put("r/" + s.info().files[file].path, s.file(file));
    disk.damage("r/a", 2100, 4);
    disk.damage("r/c", 3, 4);
    if (linked) disk.link("r/a", "snapshot");
    const auto snapshot = linked ? disk.bytes_of("snapshot") : std::vector<std::uint8_t>();
    OpenOptions options = test::kOptions;
    options.repair = true;
    Resumed resumed;
    const std::uint64_t before = disk.changes();
    if (changes > 0) disk.kill_at(cut);
    const auto run = [&](const OpenOptions& with) {
      auto store = DiskStore::open_download(disk.mount(), s.manifest, with, resumed);
      if (!store) return store.error().code == ErrorCode::kExists ? 0 : -1;
      for (std::uint32_t g = 0; g < s.count(); ++g) {
        if (resumed.verified[g]) {
          std::vector<std::uint8_t> out(s.shape().padded_bytes(g));
          const Status read = (*store)->read_generation(g, out);
          if (!read && disk.killed()) return -1;
          CHECK(read.ok());
        } else if (!(*store)->write_generation(g, s.generation(g)).ok()) {
          return -1;
        }
      }
      return (*store)->finish().ok() ? 1 : -1;
    };
    const int ended = run(options);
    if (changes == 0) {
      REQUIRE(ended == 1);
      changes = disk.changes() - before;
      continue;
    }
    CAPTURE(cut);
    if (cut % 2 == 0) {
      disk.restart();
    } else {
      disk.cut_power_and_restart(cut);
    }
    CHECK(run(options) == 1);
    for (const std::uint32_t file : {0u, 1u, 2u, 3u, 5u})
      CHECK(disk.bytes_of("r/" + s.info().files[file].path) == s.file(file));
    if (linked) CHECK(disk.bytes_of("snapshot") == snapshot);
  }
}

TEST_CASE("a repair killed at any change leaves nothing that is believed and false") {
  kill_at_any_change(false);
}

TEST_CASE("nor does one of a file with several names") {
  kill_at_any_change(true);
}

TEST_CASE("a file on its way goes on, whatever stands at its final path") {
  const TemporaryFolder dir;
  {
    Resumed resumed;
    auto store =
        ContentStore::open_download(sample().manifest, dir.path(), test::kOptions, resumed);
    REQUIRE(store.ok());
    for (const std::uint32_t g : {0u, 1u, 2u})
      REQUIRE((*store)->write_generation(g, sample().generation(g)).ok());
    REQUIRE((*store)->sync().ok());
  }
  put(dir, 0, {1, 2, 3});
  Resumed resumed;
  auto store = opened(dir, resumed);
  for (std::uint32_t g = 0; g < 3; ++g) CHECK(resumed.verified[g]);
  CHECK(test::read_file(dir.path("r/a")).size() == 3);
  complete(*store, resumed);
  check_files(dir);
}

TEST_CASE("a file that appears during a repair is in the way like any other") {
  const TemporaryFolder dir;
  put_all(dir);
  damage_a(dir, {100});
  fs::remove(dir.path("r/d"));
  Resumed resumed;
  auto store = opened(dir, resumed);
  for (std::uint32_t g = 0; g < sample().count(); ++g) {
    if (!resumed.verified[g]) REQUIRE(store->write_generation(g, sample().generation(g)).ok());
  }
  put(dir, 3, {9});
  const Result<bool> finished = store->finish();
  REQUIRE_FALSE(finished.ok());
  CHECK(finished.error().code == ErrorCode::kExists);
  CHECK(test::read_file(dir.path("r/d")) == std::vector<std::uint8_t>{9});
}

TEST_CASE("other names of a file that is repaired keep what they hold") {
  const TemporaryFolder dir;
  put_all(dir);
  damage_a(dir, {100});
  fs::create_hard_link(dir.path("r/a"), dir.path("snapshot"));
  const auto kept = test::read_file(dir.path("snapshot"));
  Resumed resumed;
  auto store = opened(dir, resumed);
  CHECK_FALSE(resumed.verified[0]);
  CHECK(resumed.verified[1]);
  complete(*store, resumed);
  check_files(dir);
  CHECK(test::read_file(dir.path("snapshot")) == kept);
}

TEST_CASE("an edit of a finished file that shares a generation stops nothing else") {
  const TemporaryFolder dir;
  put_all(dir);
  fs::remove(dir.path("r/c"));
  Resumed resumed;
  auto store = opened(dir, resumed);
  put(dir, 1, {1, 2, 3});  // b, while its neighbour c is being fetched
  complete(*store, resumed);
  CHECK(test::read_file(dir.path("r/c")) == sample().file(2));
  CHECK(test::read_file(dir.path("r/b")).size() == 3);
}

TEST_CASE("only the bytes that differ are written") {
  MemoryDisk disk;
  const Sample& s = sample();
  for (const std::uint32_t file : {0u, 1u, 2u, 3u, 5u})
    disk.put("r/" + s.info().files[file].path, s.file(file));
  disk.damage("r/a", 2100, 4);
  OpenOptions options = test::kOptions;
  options.repair = true;
  Resumed resumed;
  auto store = DiskStore::open_download(disk.mount(), s.manifest, options, resumed);
  REQUIRE(store.ok());
  const std::uint64_t before = disk.bytes_written();
  REQUIRE((*store)->write_generation(1, s.generation(1)).ok());
  // One byte of the file; the journal's record of 16 bytes.
  CHECK(disk.bytes_written() - before == 1 + 16);
}

}  // namespace
}  // namespace firn::store::repair_test
