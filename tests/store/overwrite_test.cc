// Files that stand where a download wants to put its own.
#include <doctest/doctest.h>

#include <filesystem>

#include "client/store/content_store.h"
#include "tests/store/sample_content.h"

namespace firn::store::overwrite_test {
namespace {

namespace fs = std::filesystem;
using test::Sample;
using test::TemporaryFolder;

const Sample& sample() {
  static const Sample kSample = test::make_sample(
      "o", {{"a", 8000}, {"b", 6000}, {"e", 0}, {"f", 0, true}, {"g/h", 1000}}, 4, 500);
  return kSample;
}

Result<std::unique_ptr<ContentStore>> try_open(const TemporaryFolder& dir, bool overwrite,
                                               Resumed& resumed) {
  OpenOptions options = test::kOptions;
  options.overwrite = overwrite;
  return ContentStore::open_download(sample().manifest, dir.path(), options, resumed);
}

// `path` below the content's folder.
void refuse(const TemporaryFolder& dir, const std::string& path) {
  Resumed resumed;
  const auto store = try_open(dir, false, resumed);
  REQUIRE_FALSE(store.ok());
  CHECK(store.error().code == ErrorCode::kExists);
  const std::string told = store.error().message();
  CHECK_MESSAGE(told.find(dir.path("o")) != std::string::npos, told);
  CHECK_MESSAGE(told.find(" " + path + " (") != std::string::npos, told);
  CHECK_FALSE(fs::exists(dir.path(".firn")));
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
    const FileEntry& entry = sample().info().files[i];
    CAPTURE(entry.path);
    CHECK(fs::symlink_status(dir.path("o/" + entry.path)).type() ==
          (entry.kind == FileEntry::Kind::kFolder ? fs::file_type::directory
                                                  : fs::file_type::regular));
    if (entry.kind == FileEntry::Kind::kFile)
      CHECK(test::read_file(dir.path("o/" + entry.path)) == sample().file(i));
  }
  CHECK_FALSE(fs::exists(dir.path(".firn")));
}

TEST_CASE("files of another size or other bytes are in the way unless they may be overwritten") {
  const std::vector<std::uint8_t> foreign(777, 'x');
  std::vector<std::uint8_t> same_size(6000, 'y');
  for (const auto& bytes : {foreign, same_size}) {
    const TemporaryFolder dir;
    test::write_file(dir.path("o/b"), bytes);
    refuse(dir, "b");
    CHECK(test::read_file(dir.path("o/b")) == bytes);

    Resumed resumed;
    auto store = try_open(dir, true, resumed);
    REQUIRE(store.ok());
    // It stays until the new one is complete.
    CHECK(test::read_file(dir.path("o/b")) == bytes);
    complete(**store, resumed);
    check_files(dir);
  }
}

TEST_CASE("right generations of a file that may be overwritten are kept") {
  const TemporaryFolder dir;
  std::vector<std::uint8_t> damaged = sample().file(0);
  damaged[4100] ^= 1;  // in the third of four generations
  test::write_file(dir.path("o/a"), damaged);
  refuse(dir, "a");
  Resumed resumed;
  auto store = try_open(dir, true, resumed);
  REQUIRE(store.ok());
  CHECK(resumed.verified[0]);
  CHECK(resumed.verified[1]);
  CHECK_FALSE(resumed.verified[2]);
  CHECK(resumed.verified[3]);
  complete(**store, resumed);
  check_files(dir);
}

TEST_CASE("files that are right already count as verified") {
  const TemporaryFolder dir;
  test::write_file(dir.path("o/a"), sample().file(0));  // its generations are its own
  Resumed resumed;
  auto store = try_open(dir, true, resumed);
  REQUIRE_MESSAGE(store.ok(), (store ? "" : store.error().message()));
  for (std::uint32_t g = 0; g < 4; ++g) CHECK(resumed.verified[g]);
  CHECK_FALSE(resumed.verified[4]);
  complete(**store, resumed);
  check_files(dir);
}

TEST_CASE("empty files and folders in the way are told like others") {
  {
    const TemporaryFolder dir;
    test::write_file(dir.path("o/e"), {1, 2, 3});
    refuse(dir, "e");
    Resumed resumed;
    auto store = try_open(dir, true, resumed);
    REQUIRE(store.ok());
    complete(**store, resumed);
    check_files(dir);
  }
  const TemporaryFolder dir;
  test::write_file(dir.path("o/f"), {1});
  refuse(dir, "f");
  Resumed resumed;
  CHECK(try_open(dir, true, resumed).error().code == ErrorCode::kExists);
}

TEST_CASE("a folder is never overwritten by a file, nor a file by a folder that is needed") {
  for (const std::string path : {"o/b/inside", "o/g"}) {
    CAPTURE(path);
    const TemporaryFolder dir;
    test::write_file(dir.path(path), {1, 2});
    Resumed resumed;
    for (const bool overwrite : {false, true}) {
      const auto store = try_open(dir, overwrite, resumed);
      REQUIRE_FALSE(store.ok());
      CHECK(store.error().code == ErrorCode::kExists);
    }
    CHECK(test::read_file(dir.path(path)).size() == 2);
  }
}

TEST_CASE("a file that appears during the download is in the way at the end, and nothing is lost") {
  for (const bool overwrite : {false, true}) {
    const TemporaryFolder dir;
    Resumed resumed;
    auto store = try_open(dir, overwrite, resumed);
    REQUIRE(store.ok());
    for (std::uint32_t g = 0; g < sample().count(); ++g) {
      REQUIRE((*store)->write_generation(g, sample().generation(g)).ok());
    }
    test::write_file(dir.path("o/b"), {9, 9});
    if (!overwrite) {
      const Result<bool> finished = (*store)->finish();
      REQUIRE_FALSE(finished.ok());
      CHECK(finished.error().code == ErrorCode::kExists);
      CHECK(finished.error().message().find(dir.path("o/b")) != std::string::npos);
      CHECK(test::read_file(dir.path("o/b")).size() == 2);
      fs::remove(dir.path("o/b"));
    }
    REQUIRE((*store)->finish().ok());
    check_files(dir);
  }
}

TEST_CASE("a final path that was taken keeps no other file from getting its name") {
  const TemporaryFolder dir;
  Resumed resumed;
  auto store = try_open(dir, false, resumed);
  REQUIRE(store.ok());
  for (std::uint32_t g = 0; g < sample().count(); ++g) {
    REQUIRE((*store)->write_generation(g, sample().generation(g)).ok());
  }
  test::write_file(dir.path("o/a"), {9, 9});
  for (int i = 0; i < 2; ++i) {
    const Status synced = (*store)->sync();
    REQUIRE_FALSE(synced.ok());
    CHECK(synced.error().code == ErrorCode::kExists);
    CHECK(synced.error().message().find(dir.path("o/a")) != std::string::npos);
    CHECK(test::read_file(dir.path("o/a")).size() == 2);
    CHECK(fs::exists(dir.path("o/b")));
    CHECK(fs::exists(dir.path("o/g/h")));
  }
  fs::remove(dir.path("o/a"));
  REQUIRE((*store)->sync().ok());
  CHECK(test::read_file(dir.path("o/a")) == sample().file(0));
  REQUIRE((*store)->finish().ok());
  check_files(dir);
}

}  // namespace
}  // namespace firn::store::overwrite_test
