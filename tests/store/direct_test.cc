#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "client/store/direct_access.h"
#include "client/store/disk_store.h"
#include "client/store/posix_files.h"
#include "client/store/write_ways.h"
#include "tests/store/sample_content.h"

// Bytes that the next read of more gives at most; 0: as many as it can.
static std::atomic<std::size_t> read_early = 0;

// What the linker calls pread64 (--wrap); the store reads by no other call.
extern "C" ssize_t __real_pread64(int file, void* to, std::size_t bytes, off_t offset);
extern "C" ssize_t __wrap_pread64(int file, void* to, std::size_t bytes, off_t offset) {
  const ssize_t got = __real_pread64(file, to, bytes, offset);
  const std::size_t most = read_early.exchange(0);
  if (most == 0 || got <= static_cast<ssize_t>(most)) return got;
  std::memset(static_cast<std::uint8_t*>(to) + most, 0, static_cast<std::size_t>(got) - most);
  return static_cast<ssize_t>(most);
}

namespace firn::store::direct_test {
namespace {

using Way = WriteWays::Way;
using std::chrono::nanoseconds;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kMib = 1 << 20;

// What next() says in so many turns, each of which took as long as its way takes.
std::vector<Way> turns(WriteWays& ways, std::size_t count, nanoseconds cached, nanoseconds direct) {
  std::vector<Way> said;
  for (std::size_t i = 0; i < count; ++i) {
    said.push_back(ways.next());
    ways.took(said.back(), kMib, said.back() == Way::kDirect ? direct : cached);
  }
  return said;
}

auto count_direct(const std::vector<Way>& said) {
  return std::count(said.begin(), said.end(), Way::kDirect);
}

TEST_CASE("both ways to write are tried, then the quicker one is taken") {
  WriteWays ways;
  CHECK(count_direct(turns(ways, 8, nanoseconds(1000), nanoseconds(1900))) == 4);
  CHECK(count_direct(turns(ways, 640, nanoseconds(1000), nanoseconds(1900))) == 640);
  // The disk has become slow.
  CHECK(count_direct(turns(ways, 640, nanoseconds(1000), nanoseconds(9000))) < 30);
  // And quick again: what is tried seldom shows it.
  turns(ways, 6400, nanoseconds(1000), nanoseconds(100));
  CHECK(count_direct(turns(ways, 640, nanoseconds(1000), nanoseconds(100))) == 640);
}

TEST_CASE("what a file system refuses is not tried again") {
  WriteWays ways;
  turns(ways, 20, nanoseconds(1000), nanoseconds(100));
  ways.no_direct();
  CHECK(count_direct(turns(ways, 1000, nanoseconds(1000), nanoseconds(100))) == 0);
}

TEST_CASE("it is the present preference that counts where something is read") {
  WriteWays ways;
  CHECK_FALSE(ways.prefers_direct());
  turns(ways, 1, nanoseconds(1000), nanoseconds(100));  // the first try
  CHECK_FALSE(ways.prefers_direct());
  turns(ways, 7, nanoseconds(1000), nanoseconds(100));
  CHECK(ways.prefers_direct());
  turns(ways, 640, nanoseconds(1000), nanoseconds(9000));
  CHECK_FALSE(ways.prefers_direct());
  turns(ways, 6400, nanoseconds(1000), nanoseconds(100));
  CHECK(ways.prefers_direct());
  ways.no_direct();
  CHECK_FALSE(ways.prefers_direct());
}

// Prefers the one way for all of a test.
WriteWays& prefer(WriteWays& ways, Way way) {
  for (int i = 0; i < 8; ++i) (void)ways.next();
  ways.took(Way::kCached, 1, nanoseconds(way == Way::kCached ? 1 : 1'000'000'000));
  ways.took(Way::kDirect, 1, nanoseconds(way == Way::kDirect ? 1 : 1'000'000'000));
  return ways;
}

std::shared_ptr<File> open_file(const std::string& path, std::shared_ptr<WriteWays> ways) {
  const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  return make_posix_file(Descriptor(file), path, std::move(ways));
}

struct Free {
  void operator()(std::uint8_t* bytes) const { std::free(bytes); }
};
using Pages = std::unique_ptr<std::uint8_t, Free>;

Pages pages(std::size_t bytes) {
  return Pages(static_cast<std::uint8_t*>(std::aligned_alloc(65536, bytes)));
}

TEST_CASE("what is written by both ways, at any offset and from any address, stands in the file") {
  const test::TemporaryFolder dir;
  std::mt19937_64 random(5);
  constexpr std::size_t kBytes = 6 * kMib + 1234, kMemory = 3 * kMib, kPage = 65536;
  Bytes expected(kBytes, 0);
  const Pages memory = pages(kMemory);
  std::memset(memory.get(), 0, kMemory);
  const auto ways = std::make_shared<WriteWays>();
  prefer(*ways, Way::kDirect);
  const auto file = open_file(dir.path("f"), ways), cached = open_file(dir.path("f"), nullptr);
  REQUIRE(file->resize(kBytes).ok());
  const Descriptor observer(::open(dir.path("f").c_str(), O_RDONLY | O_CLOEXEC));
  REQUIRE(observer);
  std::size_t whole_pages = 0, read_direct = 0;
  for (int step = 0; step < 200; ++step) {
    const auto rounded = [&](std::size_t bytes) {
      return random() % 8 == 0 ? bytes : bytes / kPage * kPage;
    };
    const std::size_t size = std::max<std::size_t>(rounded(1 + random() % (2 * kMib)), 1);
    const std::size_t offset = rounded(random() % (kBytes - size));
    const std::size_t from = rounded(random() % (kMemory - size));
    for (std::size_t i = 0; i < size; i += 8)
      memory.get()[from + i] = static_cast<std::uint8_t>(random());
    const std::span<const std::uint8_t> data(memory.get() + from, size);
    whole_pages += DirectAccess::fits(offset, data);
    REQUIRE((random() % 2 == 0 ? file : cached)->write_at(offset, data).ok());
    std::memcpy(expected.data() + offset, data.data(), size);
    if (step % 4 == 0) {  // what is clean leaves the cache
      REQUIRE(file->sync().ok());
      REQUIRE(::posix_fadvise(observer.number(), 0, 0, POSIX_FADV_DONTNEED) == 0);
    }
    // Read back at once: what is dirty in the cache counts, and what lies beside it on the disk.
    const std::size_t begin = offset - std::min(offset, rounded(random() % kMib));
    const Pages again = pages(8 * kMib);
    const std::span<std::uint8_t> out(again.get(), rounded(kBytes - begin));
    const auto in_cache = [&] {
      return DirectAccess::lies_in_cache(observer.number(), begin / kPage * kPage, out.size());
    };
    const bool was_in_cache = in_cache();
    Result<std::size_t> got = file->read_once_at(begin, out);
    read_direct += !was_in_cache && !in_cache();
    REQUIRE(got.ok());
    REQUIRE(*got == out.size());
    REQUIRE(std::equal(out.begin(), out.end(), expected.begin() + static_cast<long>(begin)));
  }
  CHECK(whole_pages > 50);
  CHECK(whole_pages < 200);
  if (ways->prefers_direct()) {
    CHECK(read_direct > 10);
  } else {
    MESSAGE("this folder takes no direct writes");
  }
  Bytes found(kBytes);
  Result<std::size_t> got = file->read_at(0, found);
  REQUIRE(got.ok());
  CHECK(*got == kBytes);
  CHECK(found == expected);
}

TEST_CASE("several threads write side by side while others read what is there") {
  const test::TemporaryFolder dir;
  constexpr std::size_t kPart = kLargeWrite, kThreads = 4, kParts = 64;
  const auto ways = std::make_shared<WriteWays>();
  const auto file = open_file(dir.path("f"), ways);
  REQUIRE(file->resize(kPart * kParts).ok());
  std::atomic<std::size_t> wrong = 0;
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      const Pages data = pages(kPart);
      Bytes found(kPart);
      for (std::size_t part = t; part < kParts; part += kThreads) {
        std::memset(data.get(), static_cast<int>(part + 1), kPart);
        wrong += !file->write_at(part * kPart, {data.get(), kPart}).ok();
        wrong += !file->read_at(part * kPart, found).ok();
        wrong += std::memcmp(found.data(), data.get(), kPart) != 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(wrong == 0);
  Bytes found(kPart * kParts);
  REQUIRE(file->read_at(0, found).ok());
  for (std::size_t part = 0; part < kParts; ++part) {
    const auto begin = found.begin() + static_cast<std::ptrdiff_t>(part * kPart);
    CHECK(std::count(begin, begin + kPart, static_cast<std::uint8_t>(part + 1)) == kPart);
  }
}

TEST_CASE("pages written past the cache are read back through it, with a reader that reads ahead") {
  const test::TemporaryFolder dir;
  constexpr std::size_t kPart = kLargeWrite, kParts = 32;
  const int file = ::open(dir.path("f").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(file >= 0);
  const Descriptor owner(file);
  REQUIRE(::ftruncate(file, kPart * kParts) == 0);
  const std::shared_ptr<File> reader = open_file(dir.path("f"), nullptr);
  DirectAccess writer;
  const Pages data = pages(kPart);
  Bytes found(kPart);
  for (std::size_t part = 0; part < kParts; ++part) {
    if (part > 0) REQUIRE(reader->read_at((part - 1) * kPart, found).ok());
    std::memset(data.get(), static_cast<int>(part + 1), kPart);
    const DirectAccess::Outcome outcome = writer.write(file, part * kPart, {data.get(), kPart});
    if (outcome.kind == DirectAccess::Outcome::kRefused) {
      MESSAGE("this folder takes no direct writes");
      return;
    }
    REQUIRE(outcome.kind == DirectAccess::Outcome::kDone);
    REQUIRE(reader->read_at(part * kPart, found).ok());
    CHECK(std::memcmp(found.data(), data.get(), kPart) == 0);
  }
}

// How many of the file's parts of `part_bytes` lie in the page cache.
std::size_t parts_in_cache(const std::string& path, std::size_t part_bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(file >= 0);
  const Descriptor owner(file);
  const auto bytes = static_cast<std::size_t>(::lseek(file, 0, SEEK_END));
  std::size_t count = 0;
  for (std::size_t at = 0; at < bytes; at += part_bytes)
    count += DirectAccess::lies_in_cache(file, at, part_bytes);
  return count;
}

TEST_CASE("what is read once leaves the page cache as it is, where it was written so") {
  const test::TemporaryFolder dir;
  constexpr std::size_t kPart = kLargeWrite, kParts = 16;
  const auto ways = std::make_shared<WriteWays>();
  const auto file = open_file(dir.path("f"), ways);
  const Pages data = pages(kPart);
  prefer(*ways, Way::kDirect);
  for (std::size_t part = 0; part < kParts; ++part) {
    std::memset(data.get(), static_cast<int>(part + 1), kPart);
    REQUIRE(file->write_at(part * kPart, {data.get(), kPart}).ok());
  }
  if (!ways->prefers_direct() || parts_in_cache(dir.path("f"), kPart) > 0) {
    MESSAGE("this folder takes no direct writes");
    return;
  }
  const auto right = [&](std::size_t part, Result<std::size_t> got) {
    return got.ok() && *got == kPart &&
           std::count(data.get(), data.get() + kPart, static_cast<std::uint8_t>(part + 1)) == kPart;
  };
  for (std::size_t part = 0; part < kParts; ++part)
    CHECK(right(part, file->read_once_at(part * kPart, {data.get(), kPart})));
  CHECK(parts_in_cache(dir.path("f"), kPart) == 0);
  CHECK(right(3, file->read_at(3 * kPart, {data.get(), kPart})));
  CHECK(parts_in_cache(dir.path("f"), kPart) == 1);
  CHECK(right(3, file->read_once_at(3 * kPart, {data.get(), kPart})));
  for (const std::size_t early : {4096u, 5000u}) {  // whole pages, and not
    read_early = early;
    CHECK(right(5, file->read_once_at(5 * kPart, {data.get(), kPart})));
    CHECK(read_early == 0);
  }
  // The file's end lies within what is asked for.
  CHECK(*file->read_once_at((kParts - 1) * kPart + kPart / 2, {data.get(), kPart}) == kPart / 2);
}

TEST_CASE("a download reads past the page cache while no generation is read again") {
  const test::TemporaryFolder dir;
  constexpr std::size_t kGeneration = 4 * 65536, kCount = 12;
  const test::Sample sample = test::make_sample("o", {{"", kGeneration * kCount}}, 4, 65536);
  Resumed resumed;
  const auto ways = std::make_shared<WriteWays>();
  prefer(*ways, Way::kDirect);
  auto store = DiskStore::open_download(open_posix_files(dir.path(), true, ways).value(),
                                        sample.manifest, test::kOptions, resumed);
  REQUIRE(store.ok());
  const Pages data = pages(kGeneration);
  for (std::uint32_t g = 0; g < kCount; ++g) {
    const Bytes right = sample.generation(g);
    std::memcpy(data.get(), right.data(), kGeneration);
    REQUIRE((*store)->write_generation(g, {data.get(), kGeneration}).ok());
  }
  const std::string file = dir.path(".firn/" + sample.manifest.id.text() + "/data/o");
  const std::size_t written = parts_in_cache(file, kGeneration);
  if (!ways->prefers_direct()) {
    MESSAGE("this folder takes no direct writes");
    return;
  }
  const auto read = [&](std::uint32_t begin, std::uint32_t end) {
    for (std::uint32_t g = begin; g < end; ++g) {
      REQUIRE((*store)->read_generation(g, {data.get(), kGeneration}).ok());
      const Bytes right = sample.generation(g);
      CHECK(std::equal(right.begin(), right.end(), data.get()));
    }
  };
  SUBCASE("then into it") {
    read(0, kCount);
    CHECK(parts_in_cache(file, kGeneration) == written);
    read(0, kCount);
  }
  SUBCASE("then also what is read for the first time") {
    for (int time = 0; time < 2; ++time) read(0, kCount / 2);
    read(kCount / 2, kCount);
  }
  CHECK(parts_in_cache(file, kGeneration) == kCount);
}

TEST_CASE("a write that fails is told as such by either way") {
  const test::TemporaryFolder dir;
  struct rlimit before;
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const auto old = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small = before;
  small.rlim_cur = 1 << 20;
  for (const Way way : {Way::kDirect, Way::kCached}) {
    auto ways = std::make_shared<WriteWays>();
    prefer(*ways, way);
    const auto file = open_file(dir.path("f"), ways);
    const Pages data = pages(kLargeWrite);
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &small) == 0);
    const Status status = file->write_at(1 << 20, {data.get(), kLargeWrite});
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK_FALSE(status.ok());
    CHECK(file->write_at(0, {data.get(), kLargeWrite}).ok());
  }
  std::signal(SIGXFSZ, old);
}

}  // namespace
}  // namespace firn::store::direct_test
