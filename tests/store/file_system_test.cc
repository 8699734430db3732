// What file systems cannot do: a content's folder on another disk than its work folder, no symbolic
// links, no files so large, no locks, no room.
#include <doctest/doctest.h>

#include "client/store/disk_store.h"
#include "tests/sampled.h"
#include "tests/store/memory_disk.h"
#include "tests/store/sample_content.h"

namespace firn::store::file_system_test {
namespace {

using test::MemoryDisk;
using test::Sample;

struct Download {
  OpenOptions options = test::kOptions;
  Resumed resumed;
  std::string warning;  // of the opening

  Status run(MemoryDisk& disk, const Sample& sample) {
    auto store = DiskStore::open_download(disk.mount(), sample.manifest, options, resumed);
    if (!store) return store.error();
    warning = (*store)->take_warning();
    for (std::uint32_t g = 0; g < sample.count(); ++g) {
      if (resumed.verified[g]) {
        std::vector<std::uint8_t> read(sample.shape().padded_bytes(g));
        if (Status s = (*store)->read_generation(g, read); !s) return s;
        continue;
      }
      if (Status s = (*store)->write_generation(g, sample.generation(g)); !s) return s;
      if (Status s = (*store)->sync(); !s) return s;  // files get their names as they are complete
    }
    const Result<bool> finished = (*store)->finish();
    return finished ? Status(Done{}) : finished.error();
  }
};

const Sample& sample() {
  static const Sample kSample = test::make_sample(
      "top",
      {{"a", 3000}, {"b/c", 5000}, {"b/l", 0, false, "c"}, {"e", 0}, {"f", 0, true}, {"z", 400}}, 4,
      300);
  return kSample;
}

// Ends with every file in its place and nothing beside them.
void check_whole(const MemoryDisk& disk) {
  CHECK(disk.paths() == std::vector<std::string>{"top/a", "top/b/c", "top/b/l", "top/e", "top/z"});
  CHECK(disk.bytes_of("top/a") == sample().file(0));
  CHECK(disk.bytes_of("top/b/c") == sample().file(1));
  CHECK(disk.bytes_of("top/z") == sample().file(5));
  CHECK(disk.exists("top/f"));
  CHECK_FALSE(disk.exists(".firn"));
}

void mount_somewhere(MemoryDisk& disk, const std::string& folder) {
  REQUIRE(make_folders(*disk.mount(), folder).ok());
  REQUIRE(disk.mount()->sync_all().ok());
  disk.system.mount_point = folder;
}

TEST_CASE("files are copied to their final names where those are on another disk") {
  MemoryDisk disk;
  mount_somewhere(disk, "top");
  CHECK(Download{}.run(disk, sample()).ok());
  check_whole(disk);
}

TEST_CASE(
    "a kill or power cut at any moment while files are copied to another disk loses nothing") {
  MemoryDisk whole;
  mount_somewhere(whole, "top");
  REQUIRE(Download{}.run(whole, sample()).ok());
  for (const bool power : {false, true}) {
    for (std::uint64_t cut = 0; cut < whole.changes(); cut += firn::test::some_step(1)) {
      CAPTURE(power);
      CAPTURE(cut);
      MemoryDisk disk;
      mount_somewhere(disk, "top");
      disk.kill_at(cut);
      (void)Download{}.run(disk, sample()).ok();
      if (power) {
        disk.cut_power_and_restart(cut);
      } else {
        disk.restart();
      }
      const Status again = Download{}.run(disk, sample());
      CHECK_MESSAGE(again.ok(), (again.ok() ? "" : again.error().message()));
      check_whole(disk);
    }
  }
}

TEST_CASE("a repair of files on another disk leaves them there until they are right") {
  MemoryDisk disk;
  REQUIRE(Download{}.run(disk, sample()).ok());
  disk.system.mount_point = "top";
  disk.damage("top/b/c", 4000, 1);
  Download repair;
  repair.options.repair = true;
  Result<std::unique_ptr<DiskStore>> store =
      DiskStore::open_download(disk.mount(), sample().manifest, repair.options, repair.resumed);
  REQUIRE(store.ok());
  CHECK(disk.exists("top/b/c"));
  store->reset();
  CHECK(repair.run(disk, sample()).ok());
  check_whole(disk);
}

TEST_CASE(
    "what a file system cannot hold is refused before a byte is fetched, and leaves nothing") {
  for (const bool links : {true, false}) {
    CAPTURE(links);
    MemoryDisk disk;
    disk.system.links = !links;
    if (!links) disk.system.file_bytes_max = 4999;
    for (int i = 0; i < 2; ++i) {
      const Status refused = Download{}.run(disk, sample());
      REQUIRE_FALSE(refused.ok());
      CHECK(refused.error().code == ErrorCode::kUnsupported);
      CHECK(disk.paths().empty());
      CHECK_FALSE(disk.exists("top"));
      CHECK_FALSE(disk.exists(".firn"));
    }
    disk.system.links = true;
    disk.system.file_bytes_max = 5000;
    CHECK(Download{}.run(disk, sample()).ok());
    check_whole(disk);
  }
}

TEST_CASE("a download that has begun is kept where the file system refuses the rest of it") {
  MemoryDisk disk;
  Resumed resumed;
  {
    auto store = DiskStore::open_download(disk.mount(), sample().manifest, test::kOptions, resumed);
    REQUIRE(store.ok());
    REQUIRE((*store)->write_generation(0, sample().generation(0)).ok());
    REQUIRE((*store)->sync().ok());
  }
  disk.system.file_bytes_max = 1;
  CHECK_FALSE(Download{}.run(disk, sample()).ok());
  disk.system.file_bytes_max = UINT64_MAX;
  auto store = DiskStore::open_download(disk.mount(), sample().manifest, test::kOptions, resumed);
  REQUIRE(store.ok());
  CHECK(resumed.verified[0]);
}

TEST_CASE("without room a download is refused if that is asked for, and else told of it") {
  MemoryDisk disk;
  disk.system.free = 8000;
  Download impatient;
  impatient.options.room_needed = true;
  const Status refused = impatient.run(disk, sample());
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kDiskFull);
  CHECK_FALSE(disk.exists(".firn"));
  CHECK_FALSE(disk.exists("top"));

  Download patient;
  CHECK(patient.run(disk, sample()).ok());
  CHECK(patient.warning.find("are needed") != std::string::npos);

  Download again;  // all is there: nothing is needed
  again.options.room_needed = true;
  disk.system.free = 0;
  CHECK(again.run(disk, sample()).ok());
  CHECK(again.warning.empty());
}

TEST_CASE("two downloads of a content exclude each other on a disk without locks too") {
  MemoryDisk disk;
  disk.system.locks = false;
  Resumed resumed;
  {
    auto first = DiskStore::open_download(disk.mount(), sample().manifest, test::kOptions, resumed);
    REQUIRE(first.ok());
    const Status second = Download{}.run(disk, sample());
    REQUIRE_FALSE(second.ok());
    CHECK(second.error().code == ErrorCode::kExists);
  }
  CHECK(Download{}.run(disk, sample()).ok());
  check_whole(disk);
}

TEST_CASE("a download that its spool has filled the disk of opens without the spool, and says so") {
  MemoryDisk disk;
  Resumed resumed;
  {
    auto store = DiskStore::open_download(disk.mount(), sample().manifest, test::kOptions, resumed);
    REQUIRE(store.ok());
    REQUIRE((*store)->write_generation(0, sample().generation(0)).ok());
    const auto [row, payload] = test::sample_row(sample(), 1, 0);
    REQUIRE((*store)->write_row(row, payload).ok());
    REQUIRE((*store)->sync().ok());
  }
  Download again;
  disk.set_capacity(disk.used() + 1);
  {
    auto store =
        DiskStore::open_download(disk.mount(), sample().manifest, again.options, again.resumed);
    REQUIRE(store.ok());
    CHECK(again.resumed.verified[0]);
    CHECK(again.resumed.rows.empty());
    CHECK((*store)->take_warning().find("fetched again") != std::string::npos);
  }
  disk.set_capacity(0);
  CHECK(again.run(disk, sample()).ok());
  CHECK(again.warning.empty());
  check_whole(disk);
}

TEST_CASE("of two contents of one name only one is downloaded into a folder at a time") {
  const Sample other = test::make_sample("top", {{"a", 3000}, {"new", 700}}, 4, 300, 2);
  const Sample file = test::make_sample("top", {{"", 900}}, 4, 300, 3);
  for (const bool locks : {true, false}) {
    CAPTURE(locks);
    MemoryDisk disk;
    disk.system.locks = locks;
    {
      Resumed resumed;
      auto first =
          DiskStore::open_download(disk.mount(), sample().manifest, test::kOptions, resumed);
      REQUIRE(first.ok());
      for (const Sample* second : {&other, &file}) {
        const auto before = disk.paths();
        const Status refused = Download{}.run(disk, *second);
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().code == ErrorCode::kExists);
        CHECK(disk.paths() == before);
      }
      Download elsewhere;
      elsewhere.options.as = "other";
      CHECK(elsewhere.run(disk, other).ok());
      REQUIRE(disk.exists("other/new"));
    }
    CHECK(Download{}.run(disk, sample()).ok());
    CHECK_FALSE(disk.exists(".firn"));
  }
}

TEST_CASE("a single file's name is taken from the opening of its download on") {
  const Sample one = test::make_sample("readme", {{"", 5000}}, 4, 300, 1);
  const Sample other = test::make_sample("readme", {{"", 5000}}, 4, 300, 2);
  MemoryDisk disk;
  Resumed resumed;
  {
    auto first = DiskStore::open_download(disk.mount(), one.manifest, test::kOptions, resumed);
    REQUIRE(first.ok());
    const Status refused = Download{}.run(disk, other);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kExists);
  }
  CHECK(Download{}.run(disk, one).ok());
}

}  // namespace
}  // namespace firn::store::file_system_test
