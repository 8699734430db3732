// What was verified is known again when it is read back, and nothing else is.
#include "client/store/fingerprints.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <thread>

#include "client/store/disk_store.h"
#include "proto/base/stage_times.h"
#include "tests/store/memory_disk.h"
#include "tests/store/sample_content.h"

namespace firn::store::fingerprints_test {
namespace {

using test::MemoryDisk;
using test::Sample;
using Bytes = std::vector<std::uint8_t>;

// Generations of 2000 bytes, the last of them of 1500 and three blocks.
const Sample& sample() {
  static const Sample kSample = test::make_sample("o", {{"", 7500}}, 4, 500);
  return kSample;
}

TEST_CASE("the bytes that were kept match, and no others") {
  for (const std::uint32_t g : {1u, 3u}) {
    CAPTURE(g);
    Fingerprints fingerprints(sample().shape(), Fingerprinting::kAlways);
    const Bytes right = sample().generation(g);
    CHECK_FALSE(fingerprints.match(g, right));
    fingerprints.keep(g, fingerprints.of(right));
    CHECK(fingerprints.match(g, right));
    for (std::size_t at = 0; at < right.size(); at += 7) {
      Bytes changed = right;
      changed[at] ^= static_cast<std::uint8_t>(1 << at % 8);
      CHECK_FALSE(fingerprints.match(g, changed));
    }
    Bytes swapped = right;  // the same blocks, in another order
    std::swap_ranges(swapped.begin(), swapped.begin() + 500, swapped.begin() + 500);
    CHECK_FALSE(fingerprints.match(g, swapped));
    CHECK_FALSE(fingerprints.match(0, sample().generation(0)));
  }
}

using std::chrono::nanoseconds;

// Contents of this shape are worth measuring.
Shape large_shape(std::uint32_t generation_size, std::uint32_t block_bytes) {
  return {generation_size, block_bytes, std::uint64_t{1} << 40};
}

// Of a machine where a digest takes 100 ns.
FingerprintCosts costs_of(std::int64_t fingerprint_ns) {
  return FingerprintCosts([=](const Shape&, std::size_t) {
    return FingerprintCosts::Times{nanoseconds(fingerprint_ns), nanoseconds(100)};
  });
}

TEST_CASE("fingerprints are kept where they take a quarter of a digest at most") {
  for (const std::int64_t ns : {25, 26}) {
    CAPTURE(ns);
    FingerprintCosts costs = costs_of(ns);
    const Shape shape{4, 500, 1'000'000};
    Fingerprints fingerprints(shape, Fingerprinting::kWhereCheaper, costs);
    fingerprints.keep(1, fingerprints.of(sample().generation(1)));
    CHECK(fingerprints.match(1, sample().generation(1)) == (ns == 25));
  }
}

TEST_CASE("a processor that others use now and then is not taken for a slow one") {
  const nanoseconds quick(10), slow(1000);
  int round = 0;
  FingerprintCosts costs([&](const Shape&, std::size_t) {
    ++round;
    return FingerprintCosts::Times{round == 2 ? quick : slow, round == 3 ? quick * 4 : slow};
  });
  CHECK(costs.pay(large_shape(64, 65536)));
}

TEST_CASE("costs are measured once for each shape, whichever threads ask") {
  std::atomic<int> rounds = 0;
  FingerprintCosts costs([&](const Shape&, std::size_t) {
    ++rounds;
    return FingerprintCosts::Times{nanoseconds(1), nanoseconds(100)};
  });
  std::atomic<int> paid = 0;
  const auto ask = [&] {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t)
      threads.emplace_back([&] {
        for (const std::uint32_t n : {4u, 64u}) paid += costs.pay(large_shape(n, 1000));
      });
  };
  ask();
  ask();
  CHECK(paid == 16);
  CHECK(rounds == 2 * FingerprintCosts::kRounds);
}

TEST_CASE("sixteen blocks are timed, also wide ones, or a generation that has fewer") {
  std::size_t timed = 0;
  FingerprintCosts costs([&](const Shape&, std::size_t blocks) {
    timed = blocks;
    return FingerprintCosts::Times{};
  });
  for (const std::uint32_t k : {64u, 65536u, 1u << 20}) {
    (void)costs.pay(large_shape(64, k));
    CHECK(timed == 16);
    (void)costs.pay(large_shape(5, k));
    CHECK(timed == 5);
  }
}

TEST_CASE("nothing is measured for contents that are hashed as quickly") {
  int rounds = 0;
  FingerprintCosts costs([&](const Shape&, std::size_t) {
    ++rounds;
    return FingerprintCosts::Times{nanoseconds(1), nanoseconds(100)};
  });
  Shape shape = large_shape(64, 1000);
  shape.content_bytes = 4 * 4 * 16 * 1000 - 1;
  CHECK_FALSE(costs.pay(shape));
  CHECK(rounds == 0);
  ++shape.content_bytes;
  CHECK(costs.pay(shape));
}

TEST_CASE("several threads keep and compare generations at once") {
  Fingerprints fingerprints(sample().shape(), Fingerprinting::kAlways);
  std::vector<int> matched(sample().count(), 0);
  {
    std::vector<std::jthread> threads;
    for (std::uint32_t g = 0; g < sample().count(); ++g)
      threads.emplace_back([&, g] {
        const Bytes data = sample().generation(g);
        fingerprints.keep(g, fingerprints.of(data));
        for (int i = 0; i < 100; ++i) matched[g] += fingerprints.match(g, data);
      });
  }
  CHECK(matched == std::vector<int>(sample().count(), 100));
}

// --- in the store ---

struct Download {
  MemoryDisk disk;
  std::unique_ptr<ContentStore> store;

  explicit Download(Fingerprinting when) {
    OpenOptions options = test::kOptions;
    options.fingerprinting = when;
    Resumed resumed;
    auto opened = DiskStore::open_download(disk.mount(), sample().manifest, options, resumed);
    REQUIRE(opened.ok());
    store = *std::move(opened);
  }

  std::string work_file() const {
    return ".firn/" + sample().manifest.id.text() + "/data/" + sample().info().name;
  }
  // As a decoder does it.
  void put(std::uint32_t g) {
    REQUIRE(store->verify_generation(g, sample().generation(g)));
    REQUIRE(store->write_generation(g, sample().generation(g)).ok());
  }
  // The error, or none.
  std::optional<ErrorCode> read(std::uint32_t g, const Bytes& expected) {
    Bytes bytes(sample().shape().padded_bytes(g), 1);
    const Status status = store->read_generation(g, bytes);
    if (!status.ok()) return status.error().code;
    CHECK(bytes == expected);
    return std::nullopt;
  }
};

// How often bytes are hashed: once where a fingerprint is compared, more often for a digest.
std::uint64_t hashings(const std::function<void()>& work) {
  StageClock clock;
  const StageClock::Attach attach(&clock);
  work();
  return clock.counts()[static_cast<std::size_t>(Stage::kHash)];
}

TEST_CASE("a download compares what it reads back with what was verified before it was written") {
  Download download(Fingerprinting::kAlways);
  download.put(1);
  const auto read = [&] { CHECK(download.read(1, sample().generation(1)) == std::nullopt); };
  CHECK(hashings(read) == 1);
  CHECK(hashings(read) == 1);
}

TEST_CASE("what nobody verified before it was written has its digest made at the first reading") {
  Download download(Fingerprinting::kAlways);
  REQUIRE(download.store->write_generation(1, sample().generation(1)).ok());
  const auto read = [&] { CHECK(download.read(1, sample().generation(1)) == std::nullopt); };
  CHECK(hashings(read) > 1);
  CHECK(hashings(read) == 1);
}

TEST_CASE("bytes that are written and are not those verified are found false") {
  Bytes other = sample().generation(1);
  other[700] ^= 4;
  Download download(Fingerprinting::kAlways);
  SUBCASE("right ones were verified") {
    REQUIRE(download.store->verify_generation(1, sample().generation(1)));
  }
  SUBCASE("they were found false before") {
    REQUIRE_FALSE(download.store->verify_generation(1, other));
  }
  SUBCASE("none were verified") {}
  REQUIRE(download.store->write_generation(1, other).ok());
  CHECK(download.read(1, other) == ErrorCode::kCorrupt);
}

TEST_CASE("a file on its way that is changed is noticed at the next reading") {
  Download download(Fingerprinting::kAlways);
  for (std::uint32_t g = 0; g < sample().count(); ++g) download.put(g);
  REQUIRE(download.read(1, sample().generation(1)) == std::nullopt);
  download.disk.damage(download.work_file(), 2000 + 1234, 0x40);
  CHECK(download.read(1, sample().generation(1)) == ErrorCode::kCorrupt);
  CHECK(download.read(0, sample().generation(0)) == std::nullopt);
  CHECK(download.read(3, sample().generation(3)) == std::nullopt);
  SUBCASE("and it is right again when that is undone") {
    download.disk.damage(download.work_file(), 2000 + 1234, 0x40);
    CHECK(download.read(1, sample().generation(1)) == std::nullopt);
  }
  SUBCASE("it is lost, and written again") {
    REQUIRE(download.store->lose_generation(1));
    CHECK(download.read(1, sample().generation(1)) == ErrorCode::kNotFound);
    download.put(1);
    CHECK(download.read(1, sample().generation(1)) == std::nullopt);
  }
}

TEST_CASE("a finished file that is changed is noticed although its stamp is the same") {
  Download download(Fingerprinting::kAlways);
  for (std::uint32_t g = 0; g < sample().count(); ++g) download.put(g);
  REQUIRE(*download.store->finish());
  REQUIRE(download.read(2, sample().generation(2)) == std::nullopt);
  download.disk.damage(sample().info().name, 5000, 1);  // of a time that is not known
  CHECK(download.read(2, sample().generation(2)) == ErrorCode::kCorrupt);
}

TEST_CASE("bytes that were read and are false are not kept as right") {
  MemoryDisk disk;
  disk.put("o", sample().file(0));
  OpenOptions options = test::kOptions;
  options.trust = true;
  options.fingerprinting = Fingerprinting::kAlways;
  auto opened = DiskStore::open_complete(disk.mount(), sample().manifest, options);
  REQUIRE(opened.ok());
  Bytes bytes(2000);
  disk.damage("o", 2500, 1);
  REQUIRE_FALSE((*opened)->read_generation(1, bytes).ok());
  CHECK_FALSE((*opened)->read_generation(1, bytes).ok());
  disk.damage("o", 2500, 1);
  REQUIRE((*opened)->read_generation(1, bytes).ok());
  disk.damage("o", 2500, 1);
  CHECK_FALSE((*opened)->read_generation(1, bytes).ok());
}

}  // namespace
}  // namespace firn::store::fingerprints_test
