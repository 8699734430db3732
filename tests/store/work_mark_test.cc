// What tells the work folder that a download has had before from an empty folder of its name.
#include "client/store/work_mark.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "client/store/content_store.h"
#include "tests/store/sample_content.h"

namespace firn::store::work_mark_test {
namespace {

namespace fs = std::filesystem;
using test::Sample;
using test::TemporaryFolder;

const Sample& sample() {
  static const Sample kSample = test::make_sample("w", {{"a", 3000}, {"b", 500}}, 4, 300);
  return kSample;
}

// The mark of a download into `dir`, which is left as it is; `dir` may be away.
Result<std::string> mark_of_download(const std::string& dir, const std::string& mark = {}) {
  OpenOptions options = test::kOptions;
  options.mark = mark;
  Resumed resumed;
  const auto store = ContentStore::open_download(sample().manifest, dir, options, resumed);
  if (!store) return store.error();
  return resumed.mark;
}

bool is_there(const std::string& dir, const std::string& mark) {
  return download_is_there(dir, sample().manifest.id, "w", mark).value();
}

TEST_CASE("a work folder keeps its mark, and each has one of its own") {
  const TemporaryFolder dir;
  const std::string one = mark_of_download(dir.path("one")).value();
  CHECK(one.size() == 32);
  CHECK(mark_of_download(dir.path("one")).value() == one);
  CHECK(mark_of_download(dir.path("one"), one).value() == one);
  CHECK(mark_of_download(dir.path("two")).value() != one);
  fs::rename(dir.path("one"), dir.path("moved"));
  CHECK(is_there(dir.path("moved"), one));
}

TEST_CASE("a work folder of the last version, or with a damaged mark, gets a new one") {
  const TemporaryFolder dir;
  const std::string mark = mark_of_download(dir.path()).value();
  const std::string file = dir.path(".firn/" + sample().manifest.id.text() + "/mark");
  for (const std::size_t bytes : {std::size_t{0}, std::size_t{31}, std::size_t{5000}}) {
    test::write_file(file, std::vector<std::uint8_t>(bytes, 'a'));
    const std::string fresh = mark_of_download(dir.path()).value();
    CHECK(fresh.size() == 32);
    CHECK(fresh != mark);
  }
  fs::remove(file);
  CHECK(mark_of_download(dir.path()).value().size() == 32);
}

TEST_CASE("a download whose folder is away makes nothing, and goes on when that is back") {
  const TemporaryFolder dir;
  const std::string disk = dir.path("mount/downloads"), aside = dir.path("aside");
  const std::string mark = mark_of_download(disk).value();
  CHECK(is_there(disk, mark));
  fs::rename(disk, aside);
  for (const bool empty : {false, true}) {  // no folder at all, or an empty one
    if (empty) fs::create_directories(disk);
    CHECK_FALSE(is_there(disk, mark));
    const auto opened = mark_of_download(disk, mark);
    REQUIRE_FALSE(opened.ok());
    CHECK(opened.error().code == ErrorCode::kNotFound);
    CHECK(fs::exists(disk) == empty);
    if (empty) CHECK(fs::is_empty(disk));
  }
  fs::create_directories(disk + "/.firn/" + sample().manifest.id.text());
  CHECK_FALSE(is_there(disk, mark));  // another download's
  fs::remove_all(disk);
  fs::rename(aside, disk);
  CHECK(mark_of_download(disk, mark).value() == mark);
}

TEST_CASE("a download that was finished is there, though its work folder is gone") {
  const TemporaryFolder dir;
  const std::string mark = mark_of_download(dir.path()).value();
  fs::remove_all(dir.path(".firn"));
  CHECK(is_there(dir.path(), mark));
  fs::remove_all(dir.path("w"));
  CHECK_FALSE(is_there(dir.path(), mark));
}

}  // namespace
}  // namespace firn::store::work_mark_test
