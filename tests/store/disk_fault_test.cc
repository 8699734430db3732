// Disks that run full, fail to sync, lose folders or know no holes.
#include <doctest/doctest.h>
#include <fcntl.h>

#include <filesystem>

#include "client/store/disk_store.h"
#include "client/store/posix_file.h"
#include "tests/sampled.h"
#include "tests/store/memory_disk.h"
#include "tests/store/sample_content.h"

namespace firn::store::disk_fault_test {
namespace {

using test::MemoryDisk;
using test::Sample;

Sample small_sample() {
  return test::make_sample("s", {{"a", 6000}, {"b", 1000}, {"c", 9000}}, 4, 500);
}

std::unique_ptr<DiskStore> open_on(MemoryDisk& disk, const Sample& sample, Resumed& resumed) {
  auto store = DiskStore::open_download(disk.mount(), sample.manifest, test::kOptions, resumed);
  REQUIRE_MESSAGE(store.ok(), (store ? "" : store.error().message()));
  return *std::move(store);
}

TEST_CASE("a content with a file that may not be read cannot be served, and the error names it") {
  const Sample sample = small_sample();
  MemoryDisk disk;
  for (std::uint32_t file = 0; file < 3; ++file)
    disk.put("s/" + sample.info().files[file].path, sample.file(file));
  OpenOptions options = test::kOptions;
  for (const bool trust : {true, false}) {
    options.trust = trust;
    disk.refuse_reading("s/b");
    const auto refused = DiskStore::open_complete(disk.mount(), sample.manifest, options);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kReadOnly);
    CHECK(refused.error().message().find("s/b") != std::string::npos);
    CHECK(refused.error().message().find("chmod u+r") != std::string::npos);
    disk.refuse_reading("");
    CHECK(DiskStore::open_complete(disk.mount(), sample.manifest, options).ok());
  }
}

TEST_CASE("after a full disk, the same calls work again when there is room") {
  const Sample sample = small_sample();
  // Every capacity at which some call fails, in steps that hit headers, payloads and the journal.
  for (std::uint64_t capacity = 9000; capacity < 60'000; capacity += firn::test::some_step(61)) {
    CAPTURE(capacity);
    MemoryDisk disk;
    Resumed resumed;
    const auto store = open_on(disk, sample, resumed);
    const auto insist = [&](const auto& call) {
      disk.set_capacity(capacity);
      Status status = call();
      if (!status) {
        CHECK(status.error().code == ErrorCode::kDiskFull);
        disk.set_capacity(0);
        status = call();
      }
      REQUIRE_MESSAGE(status.ok(), (status ? "" : status.error().message()));
    };
    for (std::uint32_t g = 0; g < sample.count(); ++g) {
      for (std::uint32_t slot = 0; slot < sample.shape().blocks_in(g); ++slot) {
        const auto [row, payload] = test::sample_row(sample, g, slot);
        insist([&, &row = row, &payload = payload] { return store->write_row(row, payload); });
        std::vector<std::uint8_t> kept(payload.size());
        REQUIRE(store->read_row(g, slot, kept).ok());
        CHECK(kept == payload);
      }
      insist([&] { return store->write_generation(g, sample.generation(g)); });
      insist([&] { return store->drop_rows(g); });
      if (g % 2 == 0) insist([&] { return store->sync(); });
    }
    insist([&]() -> Status {
      Result<bool> finished = store->finish();
      if (!finished) return finished.error();
      CHECK(*finished);
      return Done{};
    });
    for (std::uint32_t i = 0; i < 3; ++i) {
      CHECK(disk.bytes_of("s/" + sample.info().files[i].path) == sample.file(i));
    }
  }
}

TEST_CASE("a disk that is full when a download opens says so, and later it opens") {
  const Sample sample = small_sample();
  for (std::uint64_t capacity = 1; capacity < 6000; capacity += 97) {
    CAPTURE(capacity);
    MemoryDisk disk;
    disk.set_capacity(capacity);
    Resumed resumed;
    auto store = DiskStore::open_download(disk.mount(), sample.manifest, test::kOptions, resumed);
    if (!store) CHECK(store.error().code == ErrorCode::kDiskFull);
    store = Error{};
    disk.set_capacity(0);
    CHECK(DiskStore::open_download(disk.mount(), sample.manifest, test::kOptions, resumed).ok());
  }
}

TEST_CASE("what a failed sync lost is written again before anything vouches for it") {
  const Sample sample = small_sample();
  for (int failures = 1; failures <= 4; ++failures) {
    CAPTURE(failures);
    MemoryDisk disk;
    Resumed resumed;
    auto store = open_on(disk, sample, resumed);
    for (std::uint32_t g = 0; g < sample.count(); ++g) {
      REQUIRE(store->write_generation(g, sample.generation(g)).ok());
    }
    disk.fail_syncs(failures);
    for (int i = 0; i < failures; ++i) {
      const Status synced = store->sync();
      REQUIRE_FALSE(synced.ok());
      CHECK(synced.error().code == ErrorCode::kIo);
    }
    REQUIRE(store->sync().ok());
    store.reset();
    disk.cut_power_and_restart(static_cast<std::uint64_t>(failures));
    store = open_on(disk, sample, resumed);
    std::vector<std::uint8_t> out;
    for (std::uint32_t g = 0; g < sample.count(); ++g) {
      REQUIRE(resumed.verified[g]);
      out.resize(sample.shape().padded_bytes(g));
      CHECK(store->read_generation(g, out).ok());
    }
  }
}

TEST_CASE("what a failed sync left in memory alone is written again from there") {
  const Sample sample = small_sample();
  MemoryDisk disk;
  disk.pass_by_memory(true);
  Resumed resumed;
  auto store = open_on(disk, sample, resumed);
  for (std::uint32_t g = 0; g < sample.count(); ++g)
    REQUIRE(store->write_generation(g, sample.generation(g)).ok());
  disk.fail_syncs(1);
  REQUIRE_FALSE(store->sync().ok());
  REQUIRE(store->sync().ok());
  CHECK(store->take_lost().empty());
  CHECK(disk.passed_by() == 0);
  // Nor do these readings count as a neighbour's.
  std::vector<std::uint8_t> out(sample.shape().padded_bytes(0));
  REQUIRE(store->read_generation(0, out).ok());
  CHECK(disk.passed_by() == 1);
  store.reset();
  disk.cut_power_and_restart(1);
  open_on(disk, sample, resumed);
  CHECK(resumed.verified == std::vector<bool>(sample.count(), true));
}

TEST_CASE("what was lost can be asked for while a sync or the finish is under way") {
  const Sample sample = small_sample();
  MemoryDisk disk;
  Resumed resumed;
  const auto store = open_on(disk, sample, resumed);
  int asked = 0;
  for (std::uint32_t g = 0; g < sample.count(); ++g) {
    REQUIRE(store->write_generation(g, sample.generation(g)).ok());
    disk.before_writes([&] { asked += store->take_lost().empty() ? 1 : 0; });  // to the journal
    if (g == 0) REQUIRE(store->sync().ok());
    if (g + 1 == sample.count()) REQUIRE(store->finish().ok());
    disk.before_writes([] {});
  }
  CHECK(asked >= 2);
}

TEST_CASE("what a failed sync has lost from memory too is told, written again, and then durable") {
  const Sample sample = small_sample();
  MemoryDisk disk;
  disk.evict_after_failed_sync(true);
  Resumed resumed;
  auto store = open_on(disk, sample, resumed);
  for (std::uint32_t g = 0; g < sample.count(); ++g) {
    REQUIRE(store->write_generation(g, sample.generation(g)).ok());
  }
  disk.fail_syncs(1);  // of the first file
  REQUIRE_FALSE(store->sync().ok());
  const Result<bool> finished = store->finish();
  REQUIRE_MESSAGE(finished.ok(), (finished ? "" : finished.error().message()));
  CHECK_FALSE(*finished);
  const std::vector<std::uint32_t> lost = store->take_lost();
  CHECK(lost == std::vector<std::uint32_t>{0, 1, 2});
  CHECK(store->take_lost().empty());
  for (const std::uint32_t g : lost) {
    REQUIRE(store->write_generation(g, sample.generation(g)).ok());
  }
  CHECK(*store->finish());
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(disk.bytes_of("s/" + sample.info().files[i].path) == sample.file(i));
  }
}

TEST_CASE(
    "a file system that keeps no modes and times gets the files all the same, and a warning") {
  const Sample sample = small_sample();
  MemoryDisk disk;
  disk.refuse_attributes(true);
  Resumed resumed;
  auto store = open_on(disk, sample, resumed);
  for (std::uint32_t g = 0; g < sample.count(); ++g) {
    REQUIRE(store->write_generation(g, sample.generation(g)).ok());
  }
  const Result<bool> finished = store->finish();
  REQUIRE_MESSAGE(finished.ok(), (finished ? "" : finished.error().message()));
  for (std::uint32_t i = 0; i < 3; ++i) {
    CHECK(disk.bytes_of("s/" + sample.info().files[i].path) == sample.file(i));
  }
  CHECK(store->take_warning().find("modes and times") != std::string::npos);
  CHECK(store->take_warning().empty());
}

TEST_CASE("the refusal of a real file system is told from an error") {
  const Descriptor file(::open("/proc/self/comm", O_RDWR | O_CLOEXEC));  // its mode is fixed
  REQUIRE(file);
  const Result<bool> kept = set_descriptor_attributes(file.number(), 0600, 1, "set mode");
  REQUIRE(kept.ok());
  CHECK_FALSE(*kept);
  CHECK_FALSE(set_descriptor_attributes(-1, 0600, 1, "set mode").ok());
}

TEST_CASE("a failed sync of the journal alone is made good too") {
  const Sample sample = small_sample();
  MemoryDisk disk;
  Resumed resumed;
  auto store = open_on(disk, sample, resumed);
  REQUIRE(store->sync().ok());
  REQUIRE(store->write_generation(0, sample.generation(0)).ok());
  REQUIRE(store->write_generation(5, sample.generation(5)).ok());
  disk.fail_syncs_after(2, 1);  // the data files a and c are synced well, then comes the journal
  const Status synced = store->sync();
  REQUIRE_FALSE(synced.ok());
  CHECK(synced.error().message().find("journal") != std::string::npos);
  REQUIRE(store->sync().ok());
  store.reset();
  disk.cut_power_and_restart(5);
  store = open_on(disk, sample, resumed);
  CHECK(resumed.verified[0]);
  CHECK(resumed.verified[5]);
}

TEST_CASE("on a disk without holes dropped rows stay dropped") {
  const Sample sample = small_sample();
  MemoryDisk disk;
  disk.allow_holes(false);
  Resumed resumed;
  auto store = open_on(disk, sample, resumed);
  for (std::uint32_t g = 0; g < 3; ++g) {
    for (std::uint32_t slot = 0; slot < 4; ++slot) {
      const auto [row, payload] = test::sample_row(sample, g, slot);
      REQUIRE(store->write_row(row, payload).ok());
    }
  }
  REQUIRE(store->drop_rows(1).ok());
  store.reset();
  store = open_on(disk, sample, resumed);
  CHECK(resumed.rows.size() == 8);
  for (const SpooledRow& row : resumed.rows) CHECK(row.generation != 1);
}

TEST_CASE("a work folder that was removed underneath is noticed by the next sync") {
  const Sample sample = small_sample();
  const test::TemporaryFolder dir;
  Resumed resumed;
  auto store =
      ContentStore::open_download(sample.manifest, dir.path("out"), test::kOptions, resumed);
  REQUIRE(store.ok());
  REQUIRE((*store)->write_generation(0, sample.generation(0)).ok());
  std::filesystem::remove_all(dir.path("out"));
  const Status synced = (*store)->sync();
  REQUIRE_FALSE(synced.ok());
  CHECK(synced.error().code == ErrorCode::kNotFound);
  CHECK(synced.error().message().find(dir.path("out")) != std::string::npos);
}

}  // namespace
}  // namespace firn::store::disk_fault_test
