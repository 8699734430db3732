// Checking and serving what stands finished.
#include <doctest/doctest.h>

#include <filesystem>

#include "client/content/create.h"
#include "client/store/content_store.h"
#include "tests/store/sample_content.h"

namespace firn::store::verify_test {
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
    if (sample().info().files[i].kind == FileEntry::Kind::kFolder) {
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

// "a changed, c missing": paths below the content's folder.
std::string faults_of(const TemporaryFolder& dir) {
  std::string text;
  for (const auto& bad : verified(dir).bad_files) {
    const std::string below = dir.path("v/");
    CHECK(bad.path.starts_with(below));
    text += (text.empty() ? "" : ", ") + bad.path.substr(below.size()) + " " + bad.fault;
  }
  return text;
}

TEST_CASE("changed bytes make their generation bad and blame no file that shares it") {
  const TemporaryFolder dir;
  put_files(dir);
  std::vector<std::uint8_t> bytes = sample().file(0);
  bytes[2500] ^= 4;
  test::write_file(dir.path("v/a"), bytes);
  CHECK(faults_of(dir) == "a changed");
  const VerifyReport report = verified(dir);
  for (std::uint32_t g = 0; g < sample().count(); ++g) CHECK(report.good[g] == (g != 1));

  bytes = sample().file(2);
  bytes[0] ^= 4;
  test::write_file(dir.path("v/c"), bytes);
  CHECK(faults_of(dir) == "a changed, c changed");
}

TEST_CASE("of 500 small files one is changed, and just that one is named") {
  std::vector<test::SampleFile> files;
  for (int i = 0; i < 500; ++i) files.push_back({"f" + std::to_string(1000 + i), 37});
  const Sample many = test::make_sample("m", files, 16, 1024);
  const TemporaryFolder dir;
  for (std::uint32_t i = 0; i < files.size(); ++i)
    test::write_file(dir.path("m/" + files[i].path), many.file(i));
  std::vector<std::uint8_t> bytes = many.file(321);
  bytes[5] ^= 1;
  test::write_file(dir.path("m/f1321"), bytes);
  const auto report = verify_content(many.manifest, dir.path(), {});
  REQUIRE(report.ok());
  REQUIRE(report->bad_files.size() == 1);
  CHECK(report->bad_files[0].path == dir.path("m/f1321"));
  CHECK(report->bad_files[0].fault == "changed");
}

TEST_CASE("links are compared by their targets") {
  const Sample linked = test::make_sample("l", {{"a", 10}, {"b", 0, false, "a"}}, 4, 500);
  const TemporaryFolder dir;
  test::write_file(dir.path("l/a"), linked.file(0));
  const auto fault = [&] {
    const auto report = verify_content(linked.manifest, dir.path(), {});
    REQUIRE(report.ok());
    return report->bad_files.empty() ? "" : report->bad_files[0].fault;
  };
  CHECK(fault() == "missing");
  fs::create_symlink("elsewhere", dir.path("l/b"));
  CHECK(fault() == "changed");
  fs::remove(dir.path("l/b"));
  fs::create_symlink("a", dir.path("l/b"));
  CHECK(fault() == "");
  fs::remove(dir.path("l/b"));
  test::write_file(dir.path("l/b"), {1});
  CHECK(fault() == "in the way");
}

TEST_CASE("a missing, cut or wrong kind of file is bad, its neighbours are not blamed") {
  const TemporaryFolder dir;
  put_files(dir);
  fs::remove(dir.path("v/c"));
  fs::remove(dir.path("v/e"));
  fs::remove(dir.path("v/f"));
  CHECK(faults_of(dir) == "c missing, e missing, f missing");
  const VerifyReport report = verified(dir);
  CHECK(report.good[6]);
  CHECK_FALSE(report.good[7]);

  put_files(dir);
  fs::resize_file(dir.path("v/a"), 7999);
  CHECK(faults_of(dir) == "a short");
  fs::resize_file(dir.path("v/a"), 8001);
  CHECK(faults_of(dir) == "a long");
  fs::remove(dir.path("v/a"));
  fs::create_symlink("b", dir.path("v/a"));
  CHECK(faults_of(dir) == "a in the way");
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
  OpenOptions options = test::kOptions;
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
  // The files' times are those of this test, so all are hashed at the start.
  const auto refused = ContentStore::open_complete(sample().manifest, dir.path(), test::kOptions);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kCorrupt);
  CHECK(refused.error().message().find("1 of 5") != std::string::npos);
  CHECK(refused.error().message().find("a (changed)") != std::string::npos);
  OpenOptions trusting = test::kOptions;
  trusting.trust = true;
  const auto store = ContentStore::open_complete(sample().manifest, dir.path(), trusting);
  REQUIRE(store.ok());
  std::vector<std::uint8_t> out(sample().shape().padded_bytes(0));
  CHECK((*store)->read_generation(0, out).error().code == ErrorCode::kCorrupt);
  for (std::uint32_t g = 1; g < sample().count(); ++g) {
    out.resize(sample().shape().padded_bytes(g));
    REQUIRE((*store)->read_generation(g, out).ok());
    CHECK(out == sample().generation(g));
  }
  CHECK((*store)->sync().ok());
  CHECK((*store)->finish().ok());
  CHECK_FALSE((*store)->write_generation(0, sample().generation(0)).ok());
  CHECK_FALSE(fs::exists(dir.path(".firn")));
}

TEST_CASE("a file whose time is the manifest's is not hashed at the start") {
  const TemporaryFolder dir;
  put_files(dir);
  const Result<Manifest> manifest = content::create_manifest(dir.path("v"), {});
  REQUIRE(manifest.ok());
  std::vector<std::uint8_t> bytes = sample().file(0);
  bytes[0] ^= 1;
  const auto time = fs::last_write_time(dir.path("v/a"));
  test::write_file(dir.path("v/a"), bytes);
  CHECK_FALSE(ContentStore::open_complete(*manifest, dir.path(), test::kOptions).ok());
  fs::last_write_time(dir.path("v/a"), time);
  CHECK(ContentStore::open_complete(*manifest, dir.path(), test::kOptions).ok());
}

TEST_CASE("missing files and wrong sizes cannot be served") {
  const TemporaryFolder dir;
  CHECK(ContentStore::open_complete(sample().manifest, dir.path(), test::kOptions).error().code ==
        ErrorCode::kNotFound);
  put_files(dir);
  fs::resize_file(dir.path("v/b"), 3);
  const auto cut = ContentStore::open_complete(sample().manifest, dir.path(), test::kOptions);
  REQUIRE_FALSE(cut.ok());
  CHECK(cut.error().code == ErrorCode::kCorrupt);
  CHECK(cut.error().message().find("b (short: 3 of 7000 bytes)") != std::string::npos);
}

TEST_CASE("what is created can be verified and served") {
  const TemporaryFolder dir;
  put_files(dir);
  const Result<Manifest> manifest = content::create_manifest(dir.path("v"), {});
  REQUIRE(manifest.ok());
  const auto report = verify_content(*manifest, dir.path(), {});
  REQUIRE(report.ok());
  CHECK(report->bad_files.empty());
  CHECK(ContentStore::open_complete(*manifest, dir.path(), test::kOptions).ok());
}

}  // namespace
}  // namespace firn::store::verify_test
