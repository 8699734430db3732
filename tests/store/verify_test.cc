// Checking and serving what stands finished.
#include <doctest/doctest.h>

#include <filesystem>

#include "client/content/create.h"
#include "client/store/content_store.h"
#include "tests/store/sample_content.h"

namespace firn::store {
namespace {

namespace fs = std::filesystem;
using test::Sample;
using test::TemporaryFolder;

// a is alone in generations 0..3, b shares 7 with c, c is whole in 7 and 8.
const Sample& sample() {
  static const Sample kSample = test::make_sample(
      "v", {{"a", 8000}, {"b", 7000}, {"c", 1500}, {"e", 0}, {"f", 0, true}}, 4, 500);
  return kSample;
}

void put_files(const TemporaryFolder& dir) {
  for (std::uint32_t i = 0; i < sample().info().files.size(); ++i) {
    const std::string path = dir.path("v/" + sample().info().files[i].path);
    if (sample().info().files[i].directory) {
      fs::create_directories(path);
    } else {
      test::write_file(path, sample().file(i));
    }
  }
}

VerifyReport verified(const TemporaryFolder& dir) {
  Result<VerifyReport> report = verify_content(sample().manifest, dir.path(), {});
  REQUIRE_MESSAGE(report.ok(), (report ? "" : report.error().message()));
  return *std::move(report);
}

TEST_CASE("a right copy has no bad file") {
  const TemporaryFolder dir;
  put_files(dir);
  const VerifyReport report = verified(dir);
  CHECK(report.bad_files.empty());
  CHECK(report.good == std::vector<bool>(sample().count(), true));
}

TEST_CASE("changed bytes make their generation bad and blame the files that share it") {
  const TemporaryFolder dir;
  put_files(dir);
  std::vector<std::uint8_t> bytes = sample().file(0);
  bytes[2500] ^= 4;
  test::write_file(dir.path("v/a"), bytes);
  VerifyReport report = verified(dir);
  CHECK(report.bad_files == std::vector<std::string>{dir.path("v/a")});
  for (std::uint32_t g = 0; g < sample().count(); ++g) CHECK(report.good[g] == (g != 1));

  bytes = sample().file(2);
  bytes[0] ^= 4;
  test::write_file(dir.path("v/c"), bytes);
  report = verified(dir);
  CHECK(report.bad_files ==
        std::vector<std::string>{dir.path("v/a"), dir.path("v/b"), dir.path("v/c")});
}

TEST_CASE("a missing, cut or wrong kind of file is bad, its neighbours are not blamed") {
  const TemporaryFolder dir;
  put_files(dir);
  fs::remove(dir.path("v/c"));
  fs::remove(dir.path("v/e"));
  fs::remove(dir.path("v/f"));
  VerifyReport report = verified(dir);
  CHECK(report.bad_files ==
        std::vector<std::string>{dir.path("v/c"), dir.path("v/e"), dir.path("v/f")});
  CHECK(report.good[6]);
  CHECK_FALSE(report.good[7]);

  put_files(dir);
  fs::resize_file(dir.path("v/a"), 7999);
  CHECK(verified(dir).bad_files == std::vector<std::string>{dir.path("v/a")});
  fs::remove(dir.path("v/a"));
  fs::create_symlink("b", dir.path("v/a"));
  CHECK(verified(dir).bad_files == std::vector<std::string>{dir.path("v/a")});
}

TEST_CASE("nothing there at all: every file is bad; no folder: an error") {
  const TemporaryFolder dir;
  CHECK(verified(dir).bad_files.size() == sample().info().files.size());
  const auto report = verify_content(sample().manifest, dir.path("missing"), {});
  REQUIRE_FALSE(report.ok());
  CHECK(report.error().code == ErrorCode::kNotFound);
}

TEST_CASE("verifying can be stopped") {
  const TemporaryFolder dir;
  put_files(dir);
  OpenOptions options;
  options.cancelled = [] { return true; };
  CHECK(verify_content(sample().manifest, dir.path(), options).error().code ==
        ErrorCode::kCancelled);
}

TEST_CASE("a copy with all sizes right can be served, and is checked as it is read") {
  const TemporaryFolder dir;
  put_files(dir);
  std::vector<std::uint8_t> bytes = sample().file(0);
  bytes[0] ^= 1;
  test::write_file(dir.path("v/a"), bytes);
  const auto store = ContentStore::open_complete(sample().manifest, dir.path());
  REQUIRE(store.ok());
  std::vector<std::uint8_t> out(sample().shape().generation_bytes());
  CHECK((*store)->read_generation(0, out).error().code == ErrorCode::kCorrupt);
  for (std::uint32_t g = 1; g < sample().count(); ++g) {
    REQUIRE((*store)->read_generation(g, out).ok());
    CHECK(out == sample().generation(g));
  }
  CHECK((*store)->sync().ok());
  CHECK((*store)->finish().ok());
  CHECK_FALSE((*store)->write_generation(0, sample().generation(0)).ok());
  CHECK_FALSE(fs::exists(dir.path(".firn")));
}

TEST_CASE("missing files and wrong sizes cannot be served") {
  const TemporaryFolder dir;
  CHECK(ContentStore::open_complete(sample().manifest, dir.path()).error().code ==
        ErrorCode::kNotFound);
  put_files(dir);
  fs::resize_file(dir.path("v/b"), 3);
  const auto cut = ContentStore::open_complete(sample().manifest, dir.path());
  REQUIRE_FALSE(cut.ok());
  CHECK(cut.error().code == ErrorCode::kCorrupt);
  CHECK(cut.error().message().find(dir.path("v/b")) != std::string::npos);
}

TEST_CASE("what is created can be verified and served") {
  const TemporaryFolder dir;
  put_files(dir);
  const Result<Manifest> manifest = content::create_manifest(dir.path("v"), {});
  REQUIRE(manifest.ok());
  const auto report = verify_content(*manifest, dir.path(), {});
  REQUIRE(report.ok());
  CHECK(report->bad_files.empty());
  CHECK(ContentStore::open_complete(*manifest, dir.path()).ok());
}

}  // namespace
}  // namespace firn::store
