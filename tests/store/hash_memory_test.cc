// What need not be hashed again before it is served.
#include "client/store/hash_memory.h"

#include <doctest/doctest.h>

#include <optional>

#include "client/store/disk_store.h"
#include "tests/store/memory_disk.h"
#include "tests/store/sample_content.h"

namespace firn::store::hash_memory_test {
namespace {

using test::MemoryDisk;
using test::Sample;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr Moment kNow{2'000'000'000 * kSecond, 5000 * kSecond};

FileStat stat_changed_at(std::int64_t changed_ns) {
  return {FileKind::kFile, 1000, 1, changed_ns, 7, changed_ns};
}

ReadStamps stamps_of(const FileStat& stat) {
  ReadStamps stamps;
  stamps.add(stat, stat);
  return stamps;
}

Moment later(std::int64_t ns) {
  return {kNow.unix_ns + ns, kNow.steady_ns + ns};
}

const FileStat kOld = stat_changed_at(kNow.unix_ns - 60 * kSecond);

TEST_CASE("what was hashed is known while its files stand as they were") {
  HashMemory memory(3, 0, kNow);
  CHECK_FALSE(memory.knows(1, stamps_of(kOld), kNow));
  memory.hashed(1, stamps_of(kOld), kNow);
  CHECK(memory.knows(1, stamps_of(kOld), later(kSecond)));
  CHECK_FALSE(memory.knows(0, stamps_of(kOld), kNow));

  FileStat other = kOld;
  SUBCASE("another size") {
    ++other.bytes;
  }
  SUBCASE("another time of modification") {
    ++other.modified_ns;
  }
  SUBCASE("another time of change") {
    ++other.changed_ns;
  }
  SUBCASE("another file") {
    ++other.inode;
  }
  SUBCASE("found false since") {
    memory.found_false(1, stamps_of(kOld), kNow);
    CHECK(memory.knows_false(1, stamps_of(kOld), later(kSecond)));
  }
  CHECK_FALSE(memory.knows(1, stamps_of(other), later(kSecond)));
}

TEST_CASE("all files of a generation count, in their order") {
  HashMemory memory(1, 0, kNow);
  FileStat second = kOld;
  second.inode = 8;
  ReadStamps both, swapped;
  both.add(kOld, kOld), both.add(second, second);
  swapped.add(second, second), swapped.add(kOld, kOld);
  memory.hashed(0, both, kNow);
  CHECK(memory.knows(0, both, kNow));
  CHECK_FALSE(memory.knows(0, swapped, kNow));
  CHECK_FALSE(memory.knows(0, stamps_of(kOld), kNow));
}

TEST_CASE("it is hashed again after ten minutes, whatever the clock on the wall says") {
  HashMemory memory(1, 0, kNow);
  memory.hashed(0, stamps_of(kOld), kNow);
  CHECK(memory.knows(0, stamps_of(kOld), {0, kNow.steady_ns + kHashAgainNs - 1}));
  CHECK_FALSE(memory.knows(0, stamps_of(kOld), {kNow.unix_ns, kNow.steady_ns + kHashAgainNs}));
}

TEST_CASE("a stamp that a change just now would not alter is worth nothing") {
  HashMemory memory(1, 0, kNow);
  const auto fresh = stamps_of(stat_changed_at(kNow.unix_ns - kStampSettlesNs + 1));
  memory.hashed(0, fresh, kNow);
  CHECK_FALSE(memory.knows(0, fresh, later(kSecond)));
  memory.hashed(0, fresh, later(1));  // read once more, when the stamp has settled
  CHECK(memory.knows(0, fresh, later(kSecond)));

  const auto timeless = stamps_of(stat_changed_at(0));
  memory.hashed(0, timeless, kNow);
  CHECK_FALSE(memory.knows(0, timeless, kNow));
}

TEST_CASE("a file that changes while it is read is not known, nor noted") {
  HashMemory memory(1, 0, kNow);
  FileStat after = kOld;
  after.changed_ns += 5;
  ReadStamps torn;
  torn.add(kOld, after);
  memory.hashed(0, torn, kNow);
  CHECK_FALSE(memory.knows(0, torn, kNow));
  memory.hashed(0, stamps_of(kOld), kNow);
  CHECK_FALSE(memory.knows(0, torn, kNow));
}

TEST_CASE("what this process hashed while it made the manifest is known from the start") {
  const std::int64_t began = kNow.unix_ns - 100 * kSecond;
  const auto known = [&](std::int64_t changed_ns, Moment at) {
    HashMemory memory(1, began, kNow);
    return memory.knows(0, stamps_of(stat_changed_at(changed_ns)), at);
  };
  CHECK(known(began - kStampSettlesNs, kNow));
  CHECK_FALSE(known(began - kStampSettlesNs + 1, kNow));
  CHECK_FALSE(known(began + kSecond, kNow));
  // Ten minutes from when hashing began.
  CHECK(known(began - kStampSettlesNs, later(kHashAgainNs - 100 * kSecond - 1)));
  CHECK_FALSE(known(began - kStampSettlesNs, later(kHashAgainNs - 100 * kSecond)));
}

// --- in the store, whose files change behind their stamps ---

const Sample& sample() {
  static const Sample kSample =
      test::make_sample("o", {{"a", 7000}, {"b", 1500}, {"c", 6000}}, 4, 500);
  return kSample;
}

struct Served {
  MemoryDisk disk;
  Moment now = kNow;
  std::unique_ptr<ContentStore> store;

  explicit Served(std::int64_t hashed_since_ns = 0) {
    for (std::uint32_t file = 0; file < sample().info().files.size(); ++file)
      disk.put("o/" + sample().info().files[file].path, sample().file(file));
    disk.set_times(kOld.changed_ns);
    OpenOptions options = test::kOptions;
    options.trust = true;
    options.hashed_since_ns = hashed_since_ns;
    options.clock = [this] { return now; };
    auto opened = DiskStore::open_complete(disk.mount(), sample().manifest, options);
    REQUIRE_MESSAGE(opened.ok(), (opened ? "" : opened.error().message()));
    store = *std::move(opened);
  }

  // The error, or none.
  std::optional<ErrorCode> read(std::uint32_t generation) {
    std::vector<std::uint8_t> bytes(sample().shape().padded_bytes(generation), 1);
    const Status status = store->read_generation(generation, bytes);
    if (!status.ok()) return status.error().code;
    return std::nullopt;
  }
};

TEST_CASE("a served content is hashed at its first reading, and ten minutes later") {
  Served served;
  CHECK(served.read(0) == std::nullopt);
  served.disk.damage("o/a", 10, 1);  // as a failing disk does it: no time changes
  CHECK(served.read(0) == std::nullopt);
  CHECK(served.read(1) == std::nullopt);
  served.now = later(kHashAgainNs);
  CHECK(served.read(0) == ErrorCode::kCorrupt);
  CHECK(served.read(0) == ErrorCode::kCorrupt);
  served.disk.damage("o/a", 10, 1);
  CHECK(served.read(0) == std::nullopt);
}

TEST_CASE("a served file that a program changes is hashed again at once") {
  Served served;
  CHECK(served.read(0) == std::nullopt);
  served.disk.damage("o/a", 10, 1);
  served.disk.set_times(kOld.changed_ns + 1);
  CHECK(served.read(0) == ErrorCode::kCorrupt);
}

TEST_CASE("what was found false is not read again while its files stand, but after ten minutes") {
  Served served;
  served.disk.damage("o/a", 10, 1);
  CHECK(served.read(0) == ErrorCode::kCorrupt);
  CHECK_FALSE(served.store->lose_generation(0));
  served.disk.damage("o/a", 10, 1);  // no stamp tells that it is right again
  CHECK_FALSE(served.store->may_be_right_again(0));
  SUBCASE("a change that shows") {
    served.disk.set_times(kOld.changed_ns + 1);
  }
  SUBCASE("ten minutes") {
    served.now = later(kHashAgainNs);
  }
  CHECK(served.store->may_be_right_again(0));
  CHECK(served.read(0) == std::nullopt);
}

TEST_CASE("what was found false just after a change is read again") {
  Served served;
  served.disk.set_times(kNow.unix_ns - kStampSettlesNs + 1);
  served.disk.damage("o/a", 10, 1);
  CHECK(served.read(0) == ErrorCode::kCorrupt);
  CHECK_FALSE(served.store->lose_generation(0));
  CHECK(served.store->may_be_right_again(0));
}

TEST_CASE("a content shared by the process that hashed it is not hashed again") {
  Served served(kNow.unix_ns - kSecond);
  served.disk.damage("o/a", 10, 1);
  CHECK(served.read(0) == std::nullopt);
  // Of a file that changed after that began, all is.
  served.disk.set_times(kNow.unix_ns);
  CHECK(served.read(0) == ErrorCode::kCorrupt);
}

TEST_CASE("what is read without being hashed is the file's bytes, with zeros for padding") {
  Served served(kNow.unix_ns - kSecond);
  for (std::uint32_t g = 0; g < sample().count(); ++g) {
    std::vector<std::uint8_t> bytes(sample().shape().padded_bytes(g), 1);
    REQUIRE(served.store->read_generation(g, bytes).ok());
    CHECK(bytes == sample().generation(g));
  }
}

}  // namespace
}  // namespace firn::store::hash_memory_test
