// Going on after an earlier run, on a real file system.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "client/store/content_store.h"
#include "tests/store/sample_content.h"

namespace firn::store::resume_test {
namespace {

namespace fs = std::filesystem;
using test::Sample;
using test::TemporaryFolder;

const Sample& sample() {
  static const Sample kSample =
      test::make_sample("r", {{"a", 10'000}, {"b", 700}, {"c", 6000}, {"d", 0}}, 4, 500);
  return kSample;
}

std::unique_ptr<ContentStore> open_in(const TemporaryFolder& dir, Resumed& resumed) {
  auto store = ContentStore::open_download(sample().manifest, dir.path(), test::kOptions, resumed);
  REQUIRE_MESSAGE(store.ok(), (store ? "" : store.error().message()));
  return *std::move(store);
}

std::string work(const std::string& below) {
  return ".firn/" + sample().manifest.id.text() + "/" + below;
}

void complete(ContentStore& store, const Resumed& resumed) {
  for (std::uint32_t g = 0; g < sample().count(); ++g) {
    if (!resumed.verified[g]) REQUIRE(store.write_generation(g, sample().generation(g)).ok());
  }
  const Result<bool> finished = store.finish();
  REQUIRE_MESSAGE(finished.ok(), (finished ? "" : finished.error().message()));
}

void check_files(const TemporaryFolder& dir) {
  for (std::uint32_t i = 0; i < sample().info().files.size(); ++i) {
    const std::string path = dir.path("r/" + sample().info().files[i].path);
    CHECK(fs::exists(path));
    CHECK(test::read_file(path) == sample().file(i));
  }
  CHECK_FALSE(fs::exists(dir.path(".firn")));
}

TEST_CASE("a download abandoned after any step goes on from there") {
  // Per generation: a row, another row, the generation, a sync; then finish.
  const std::uint32_t steps = sample().count() * 4;
  for (std::uint32_t stop = 0; stop <= steps; ++stop) {
    CAPTURE(stop);
    const TemporaryFolder dir;
    Resumed resumed;
    {
      const auto store = open_in(dir, resumed);
      CHECK(resumed.rows.empty());
      for (std::uint32_t step = 0; step < stop; ++step) {
        const std::uint32_t g = step / 4;
        if (step % 4 < 2) {
          const auto [row, payload] = test::sample_row(sample(), g, step % 4);
          REQUIRE(store->write_row(row, payload).ok());
        } else if (step % 4 == 2) {
          REQUIRE(store->write_generation(g, sample().generation(g)).ok());
        } else if (g % 2 == 0) {
          REQUIRE(store->sync().ok());
        }
      }
    }
    const auto store = open_in(dir, resumed);
    for (std::uint32_t g = 0; g < sample().count(); ++g) {
      CHECK(resumed.verified[g] == (g * 4 + 3 <= stop));
    }
    constexpr std::size_t kRowsLeft[] = {0, 1, 2, 0};  // after so many steps of a generation
    CHECK(resumed.rows.size() == kRowsLeft[stop % 4]);
    complete(*store, resumed);
    check_files(dir);
  }
}

TEST_CASE("a complete download opens as verified, without a work folder, and finish does nothing") {
  const TemporaryFolder dir;
  Resumed resumed;
  complete(*open_in(dir, resumed), resumed);
  const auto store = open_in(dir, resumed);
  CHECK_FALSE(fs::exists(dir.path(".firn")));
  CHECK(resumed.verified == std::vector<bool>(sample().count(), true));
  REQUIRE(store->sync().ok());
  REQUIRE(store->finish().ok());
  std::vector<std::uint8_t> out(sample().shape().padded_bytes(2));
  REQUIRE(store->read_generation(2, out).ok());
  CHECK(out == sample().generation(2));
  check_files(dir);
}

TEST_CASE("a damaged journal costs hashing, not data") {
  for (const bool header : {true, false}) {
    const TemporaryFolder dir;
    Resumed resumed;
    {
      const auto store = open_in(dir, resumed);
      for (const std::uint32_t g : {0, 1, 2, 3, 4, 6}) {
        REQUIRE(store->write_generation(g, sample().generation(g)).ok());
      }
      REQUIRE(store->sync().ok());
    }
    const std::string path = dir.path(work("journal"));
    std::vector<std::uint8_t> bytes = test::read_file(path);
    if (header) {
      bytes[30] ^= 1;
    } else {
      fs::remove(path);
    }
    if (header) test::write_file(path, bytes);
    const auto store = open_in(dir, resumed);
    for (const std::uint32_t g : {0, 1, 2, 3, 4, 6}) CHECK(resumed.verified[g]);
    complete(*store, resumed);
    check_files(dir);
  }
}

TEST_CASE("a file on its way that was cut short loses only what was cut") {
  const TemporaryFolder dir;
  Resumed resumed;
  {
    const auto store = open_in(dir, resumed);
    for (const std::uint32_t g : {0, 1, 2, 3}) {
      REQUIRE(store->write_generation(g, sample().generation(g)).ok());
    }
    REQUIRE(store->sync().ok());
  }
  fs::resize_file(dir.path(work("data/a")), 4500);
  const auto store = open_in(dir, resumed);
  CHECK(resumed.verified[0]);
  CHECK(resumed.verified[1]);
  CHECK_FALSE(resumed.verified[2]);
  CHECK_FALSE(resumed.verified[3]);
  complete(*store, resumed);
  check_files(dir);
}

TEST_CASE("a file on its way that vanished is downloaded again") {
  const TemporaryFolder dir;
  Resumed resumed;
  {
    const auto store = open_in(dir, resumed);
    for (std::uint32_t g = 0; g < 4; ++g) {
      REQUIRE(store->write_generation(g, sample().generation(g)).ok());
    }
    REQUIRE(store->sync().ok());
  }
  fs::remove(dir.path(work("data/a")));
  const auto store = open_in(dir, resumed);
  CHECK(resumed.verified == std::vector<bool>(sample().count(), false));
  complete(*store, resumed);
  check_files(dir);
}

TEST_CASE("a finished file that vanished while others were on their way is downloaded again") {
  const TemporaryFolder dir;
  Resumed resumed;
  {
    const auto store = open_in(dir, resumed);
    for (std::uint32_t g = 0; g < 5; ++g) {
      REQUIRE(store->write_generation(g, sample().generation(g)).ok());
    }
    REQUIRE(store->sync().ok());
  }
  REQUIRE(fs::exists(dir.path("r/a")));
  fs::remove(dir.path("r/a"));
  const auto store = open_in(dir, resumed);
  CHECK_FALSE(resumed.verified[0]);
  complete(*store, resumed);
  check_files(dir);
}

TEST_CASE("a file that went away at the end comes back without a download of the rest") {
  const TemporaryFolder dir;
  Resumed resumed;
  complete(*open_in(dir, resumed), resumed);
  fs::remove(dir.path("r/c"));
  OpenOptions options = test::kOptions;
  options.repair = true;
  auto store = ContentStore::open_download(sample().manifest, dir.path(), options, resumed);
  REQUIRE_MESSAGE(store.ok(), (store ? "" : store.error().message()));
  CHECK(fs::exists(dir.path("r/b")));  // its own digest says that it is right
  for (std::uint32_t g = 0; g < 5; ++g) CHECK(resumed.verified[g]);
  complete(**store, resumed);
  check_files(dir);
}

TEST_CASE("hashing on opening reports progress and can be stopped") {
  const TemporaryFolder dir;
  Resumed resumed;
  complete(*open_in(dir, resumed), resumed);
  OpenOptions options = test::kOptions;
  std::uint64_t last = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    CHECK(total == sample().shape().content_bytes);
    last = done;
  };
  REQUIRE(ContentStore::open_download(sample().manifest, dir.path(), options, resumed).ok());
  CHECK(last == sample().shape().content_bytes);
  options.cancelled = [] { return true; };
  CHECK(ContentStore::open_download(sample().manifest, dir.path(), options, resumed).error().code ==
        ErrorCode::kCancelled);
}

}  // namespace
}  // namespace firn::store::resume_test
