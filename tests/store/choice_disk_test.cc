// Choices of files on disks that fail, or have too little room.
#include <doctest/doctest.h>

#include "client/store/disk_store.h"
#include "client/store/kept_choice.h"
#include "tests/store/choice_sample.h"
#include "tests/store/memory_disk.h"

namespace firn::store::choice_disk_test {
namespace {

using namespace test;

const Sample& sample() {
  return choice_sample();
}

TEST_CASE("a change of the choice that fails leaves the last one kept") {
  MemoryDisk disk;
  const auto kept = [&] { return *kept_choice(*disk.mount(), sample().manifest); };
  Resumed resumed;
  {
    auto store =
        DiskStore::open_download(disk.mount(), sample().manifest, choosing(kOnlyB), resumed);
    REQUIRE(store.ok());
    disk.fail_folder_syncs(1);
    CHECK((*store)->choose(kOnlyC).error().code == ErrorCode::kIo);
    CHECK(kept() == kOnlyB);
    disk.fail_folder_syncs(1);
    CHECK((*store)->choose({}).error().code == ErrorCode::kIo);
    CHECK(kept() == kOnlyB);
    REQUIRE((*store)->choose(kOnlyC).ok());
    CHECK(kept() == kOnlyC);
  }
  disk.system.free = 10;
  OpenOptions wider = choosing({});
  wider.room_needed = true;
  const auto refused = DiskStore::open_download(disk.mount(), sample().manifest, wider, resumed);
  CHECK(refused.error().code == ErrorCode::kDiskFull);
  CHECK(kept() == kOnlyC);
  disk.system.free = UINT64_MAX;
  for (int failing = 1; failing < 10; ++failing) {
    CAPTURE(failing);
    disk.fail_syncs_after(failing - 1, 1);
    const auto opened =
        DiskStore::open_download(disk.mount(), sample().manifest, choosing(kOnlyA), resumed);
    CHECK(kept() == (opened.ok() ? kOnlyA : kOnlyC));
    if (opened.ok()) return;
  }
  FAIL("it is never opened");
}

TEST_CASE("the room that a download needs is that of the wanted generations") {
  MemoryDisk disk;
  // Generations 3 and 4 have 2000 and 500 bytes; as much again is for blocks that are on their way.
  disk.system.free = 5100;
  Resumed resumed;
  const auto open = [&](const Choice& chosen) {
    OpenOptions options = choosing(chosen);
    options.room_needed = true;
    return DiskStore::open_download(disk.mount(), sample().manifest, options, resumed);
  };
  CHECK(open(kOnlyA).error().code == ErrorCode::kDiskFull);
  CHECK(open({}).error().code == ErrorCode::kDiskFull);
  CHECK(open(kOnlyB).ok());
  disk.system.free = 4900;
  CHECK(open(kOnlyB).error().code == ErrorCode::kDiskFull);
}

TEST_CASE("a wider choice without room is made, and what is needed is told as at the opening") {
  MemoryDisk disk;
  disk.system.free = 5100;
  Resumed resumed;
  const auto open = [&](const Choice& chosen) {
    auto store =
        DiskStore::open_download(disk.mount(), sample().manifest, choosing(chosen), resumed);
    REQUIRE(store.ok());
    return *std::move(store);
  };
  const auto store = open(kOnlyB);
  CHECK(store->take_warning().empty());
  REQUIRE(store->choose({}).ok());
  const std::string told = store->take_warning();
  CHECK_MESSAGE(told.find("1 MiB are needed, and 0 MiB are free") != std::string::npos, told);
  MemoryDisk other;
  other.system.free = 5100;
  auto narrow = DiskStore::open_download(other.mount(), sample().manifest, choosing({}), resumed);
  REQUIRE(narrow.ok());
  CHECK((*narrow)->take_warning() == told);
  REQUIRE((*narrow)->choose(kOnlyB).ok());
  CHECK((*narrow)->take_warning().empty());
}

TEST_CASE("a file too large for the file system may be left out, and cannot be chosen later") {
  MemoryDisk disk;
  disk.system.file_bytes_max = 6500;  // a has 7000
  Resumed resumed;
  const auto open = [&](const Choice& chosen) {
    return DiskStore::open_download(disk.mount(), sample().manifest, choosing(chosen), resumed);
  };
  CHECK(open({}).error().code == ErrorCode::kUnsupported);
  CHECK(open(kOnlyB).error().code == ErrorCode::kUnsupported);  // it shares bytes with a
  const auto store = open(kOnlyC);
  REQUIRE(store.ok());
  CHECK((*store)->choose({}).error().code == ErrorCode::kUnsupported);
  for (const std::uint32_t g : {5, 6, 7})
    REQUIRE((*store)->write_generation(g, sample().generation(g)).ok());
  CHECK(*(*store)->finish());
}

}  // namespace
}  // namespace firn::store::choice_disk_test
