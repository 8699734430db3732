// Files that are edited, moved away or damaged while their download goes on.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>

#include "client/store/disk_store.h"
#include "tests/store/memory_disk.h"
#include "tests/store/sample_content.h"

namespace firn::store::loss_test {
namespace {

namespace fs = std::filesystem;
using test::Sample;
using test::TemporaryFolder;

// Generations of 2000 bytes: a has 0 to 2, and of 3 the first half, which b shares; b ends in 4,
// and c begins with 5.
const Sample& sample() {
  static const Sample kSample =
      test::make_sample("o", {{"a", 7000}, {"b", 1500}, {"c", 6000}}, 4, 500);
  return kSample;
}
constexpr std::uint32_t kCount = 8;

const OpenOptions kTrust{.trust = true, .fingerprinting = Fingerprinting::kAlways};

Result<std::unique_ptr<ContentStore>> try_open(const TemporaryFolder& dir, Resumed& resumed,
                                               bool overwrite = false) {
  OpenOptions options = test::kOptions;
  options.overwrite = overwrite;
  return ContentStore::open_download(sample().manifest, dir.path(), options, resumed);
}

std::unique_ptr<ContentStore> open(const TemporaryFolder& dir, Resumed& resumed,
                                   bool overwrite = false) {
  auto store = try_open(dir, resumed, overwrite);
  REQUIRE_MESSAGE(store.ok(), (store ? "" : store.error().message()));
  return *std::move(store);
}

void write(ContentStore& store, std::uint32_t first, std::uint32_t last) {
  for (std::uint32_t g = first; g < last; ++g) {
    REQUIRE(store.write_generation(g, sample().generation(g)).ok());
  }
}

// A download whose file a has its final name, and whose b and c are on their way.
std::unique_ptr<ContentStore> with_a_finished(const TemporaryFolder& dir) {
  Resumed resumed;
  auto store = open(dir, resumed);
  write(*store, 0, 4);
  REQUIRE(store->sync().ok());
  REQUIRE(fs::exists(dir.path("o/a")));
  REQUIRE_FALSE(fs::exists(dir.path("o/b")));
  return store;
}

std::vector<std::uint8_t> edited_a() {
  auto bytes = sample().file(0);
  bytes[2500] ^= 1;  // in generation 1
  bytes[6500] ^= 1;  // in generation 3, which a shares with b
  return bytes;
}

bool readable(const ContentStore& store, std::uint32_t g) {
  std::vector<std::uint8_t> out(sample().shape().padded_bytes(g));
  return store.read_generation(g, out).ok();
}

void check_files(const TemporaryFolder& dir) {
  for (std::uint32_t i = 0; i < sample().info().files.size(); ++i) {
    CHECK(test::read_file(dir.path("o/" + sample().info().files[i].path)) == sample().file(i));
  }
  CHECK_FALSE(fs::exists(dir.path(".firn")));
}

TEST_CASE("a file that was edited under its final name is never written again") {
  const TemporaryFolder dir;
  const auto store = with_a_finished(dir);
  test::write_file(dir.path("o/a"), edited_a());
  REQUIRE_FALSE(readable(*store, 1));
  CHECK_FALSE(store->lose_generation(1));  // left alone
  const Status written = store->write_generation(1, sample().generation(1));
  REQUIRE_FALSE(written.ok());
  CHECK(written.error().code == ErrorCode::kExists);
  CHECK(test::read_file(dir.path("o/a")) == edited_a());
}

TEST_CASE("a download with an edited file ends with an error, and has done all the rest") {
  const TemporaryFolder dir;
  auto store = with_a_finished(dir);
  test::write_file(dir.path("o/a"), edited_a());
  CHECK_FALSE(store->lose_generation(1));
  CHECK_FALSE(store->lose_generation(3));
  write(*store, 4, kCount);
  const Result<bool> finished = store->finish();
  REQUIRE_FALSE(finished.ok());
  CHECK(finished.error().code == ErrorCode::kCorrupt);
  for (const std::string path : {"o/a", "o/b"}) {
    CHECK(finished.error().message().find(dir.path(path)) != std::string::npos);
  }
  CHECK(finished.error().message().find(dir.path("o/c")) == std::string::npos);
  CHECK(test::read_file(dir.path("o/a")) == edited_a());
  CHECK_FALSE(
      fs::exists(dir.path("o/b")));  // which file's bytes of generation 3 are wrong cannot be told
  CHECK(test::read_file(dir.path("o/c")) == sample().file(2));

  // The next run does not trust what was lost, nor the file that it was lost in.
  store.reset();
  Resumed resumed;
  const auto refused = try_open(dir, resumed);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kExists);
  CHECK(test::read_file(dir.path("o/a")) == edited_a());

  SUBCASE("it may be overwritten") {
    store = open(dir, resumed, true);
    CHECK(resumed.verified == std::vector<bool>{true, false, true, false, true, true, true, true});
  }
  SUBCASE("it is moved away") {
    fs::rename(dir.path("o/a"), dir.path("mine"));
    store = open(dir, resumed);
    CHECK(std::count(resumed.verified.begin(), resumed.verified.end(), false) == 4);
  }
  for (std::uint32_t g = 0; g < kCount; ++g) {
    if (!resumed.verified[g]) write(*store, g, g + 1);
  }
  CHECK(*store->finish());
  check_files(dir);
  if (fs::exists(dir.path("mine"))) CHECK(test::read_file(dir.path("mine")) == edited_a());
}

TEST_CASE("where one generation of a file was lost, a restart hashes the others of that file") {
  const TemporaryFolder dir;
  auto store = with_a_finished(dir);
  test::write_file(dir.path("o/a"), edited_a());
  CHECK_FALSE(store->lose_generation(1));  // that of 3 was not noticed
  store.reset();                           // killed
  Resumed resumed;
  store = open(dir, resumed, true);
  CHECK_FALSE(resumed.verified[1]);
  CHECK_FALSE(resumed.verified[3]);
  CHECK(resumed.verified[0]);
}

TEST_CASE("a file that was moved away after it was finished stops nothing else") {
  const TemporaryFolder dir;
  const auto store = with_a_finished(dir);
  fs::rename(dir.path("o"), dir.path("elsewhere"));
  REQUIRE_FALSE(readable(*store, 0));
  CHECK_FALSE(store->lose_generation(0));
  write(*store, 4, kCount);
  REQUIRE(store->sync().ok());
  Result<bool> finished = store->finish();
  REQUIRE_FALSE(finished.ok());
  CHECK(finished.error().code == ErrorCode::kCorrupt);
  CHECK(test::read_file(dir.path("o/b")) == sample().file(1));
  CHECK(test::read_file(dir.path("o/c")) == sample().file(2));

  // Moved back, it is right again.
  fs::rename(dir.path("elsewhere/a"), dir.path("o/a"));
  finished = store->finish();
  REQUIRE_MESSAGE(finished.ok(), (finished ? "" : finished.error().message()));
  fs::remove(dir.path("elsewhere"));
  check_files(dir);
}

TEST_CASE("a generation that is right again counts again") {
  const TemporaryFolder dir;
  const auto store = with_a_finished(dir);
  test::write_file(dir.path("o/a"), edited_a());
  CHECK_FALSE(store->lose_generation(3));
  test::write_file(dir.path("o/a"), sample().file(0));
  REQUIRE(readable(*store, 3));
  store->regain_generation(3);
  write(*store, 4, kCount);
  CHECK(*store->finish());
  check_files(dir);
}

TEST_CASE("a generation that was damaged in the work folder is written again") {
  const TemporaryFolder dir;
  Resumed resumed;
  auto store = open(dir, resumed);
  write(*store, 0, 3);
  REQUIRE(store->sync().ok());
  const std::string place = dir.path(".firn/" + sample().manifest.id.text() + "/data/a");
  auto bytes = test::read_file(place);
  bytes[2500] ^= 1;
  test::write_file(place, bytes);
  REQUIRE_FALSE(readable(*store, 1));
  CHECK(store->lose_generation(1));
  CHECK(store->finish().ok());  // and does nothing

  SUBCASE("in the same run") {
    write(*store, 3, kCount);
    write(*store, 1, 2);
  }
  SUBCASE("in the next") {
    store.reset();
    store = open(dir, resumed);
    CHECK_FALSE(resumed.verified[1]);
    CHECK(resumed.verified[0]);
    write(*store, 1, 2);
    write(*store, 3, kCount);
  }
  CHECK(*store->finish());
  check_files(dir);
}

TEST_CASE("a file that is deleted while it is on its way is noticed, and written again") {
  const TemporaryFolder dir;
  Resumed resumed;
  auto store = open(dir, resumed);
  write(*store, 0, 3);
  REQUIRE(store->sync().ok());
  const std::string place = dir.path(".firn/" + sample().manifest.id.text() + "/data/a");
  std::vector<std::uint32_t> lost{0, 1, 2};
  SUBCASE("while it is open, and with what comes meanwhile") {
    fs::remove(place);
    write(*store, 3, 4);  // it goes into the file that is gone
    lost.push_back(3);
  }
  SUBCASE("when it is opened again") {
    store.reset();
    store = open(dir, resumed);
    fs::remove(place);
    write(*store, 3, 4);
  }
  REQUIRE(store->sync().ok());
  CHECK(store->take_lost() == lost);
  CHECK(store->take_warning().find(place) != std::string::npos);
  for (const std::uint32_t g : lost) CHECK_FALSE(readable(*store, g));
  write(*store, 4, kCount);
  CHECK_FALSE(*store->finish());
  for (const std::uint32_t g : lost) write(*store, g, g + 1);
  CHECK(*store->finish());
  check_files(dir);
}

TEST_CASE("where the folder of files on their way is gone, none of them counts as deleted") {
  const TemporaryFolder dir;
  Resumed resumed;
  auto store = open(dir, resumed);
  write(*store, 0, 3);
  REQUIRE(store->sync().ok());
  const std::string work = dir.path(".firn/" + sample().manifest.id.text());
  fs::rename(work + "/data", dir.path("away"));
  (void)store->sync().ok();
  CHECK(store->take_lost().empty());
  fs::rename(dir.path("away"), work + "/data");
  write(*store, 3, kCount);
  CHECK(*store->finish());
  check_files(dir);
}

TEST_CASE("a journal that takes no loss makes the next sync fail, and has it afterwards") {
  test::MemoryDisk disk;
  Resumed resumed;
  auto store = DiskStore::open_download(disk.mount(), sample().manifest, test::kOptions, resumed);
  REQUIRE(store.ok());
  write(**store, 0, 4);
  REQUIRE((*store)->sync().ok());
  disk.damage("o/a", 2500, 1);
  disk.set_capacity(1);
  CHECK_FALSE((*store)->lose_generation(1));
  CHECK((*store)->sync().error().code == ErrorCode::kDiskFull);
  disk.set_capacity(0);
  REQUIRE((*store)->sync().ok());
  store = Error{};
  disk.cut_power_and_restart(3);
  OpenOptions options = test::kOptions;
  options.overwrite = true;
  store = DiskStore::open_download(disk.mount(), sample().manifest, options, resumed);
  REQUIRE(store.ok());
  CHECK_FALSE(resumed.verified[1]);
}

TEST_CASE("a seed's lost generation is tried again by who asks, and nothing is written") {
  const TemporaryFolder dir;
  for (std::uint32_t i = 0; i < 3; ++i) {
    test::write_file(dir.path("o/" + sample().info().files[i].path), sample().file(i));
  }
  const auto store = ContentStore::open_complete(sample().manifest, dir.path(), kTrust);
  REQUIRE(store.ok());
  fs::rename(dir.path("o/b"), dir.path("away"));
  CHECK_FALSE(readable(**store, 4));
  CHECK_FALSE((*store)->lose_generation(4));
  CHECK_FALSE(readable(**store, 4));
  CHECK_FALSE((*store)->may_be_right_again(4));
  fs::rename(dir.path("away"), dir.path("o/b"));
  CHECK((*store)->may_be_right_again(4));
  CHECK(readable(**store, 4));
  (*store)->regain_generation(4);
  CHECK(readable(**store, 4));
}

}  // namespace
}  // namespace firn::store::loss_test
