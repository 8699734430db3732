// What tells the work folder that a download has had before from an empty folder of its name.
#include "client/store/work_mark.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

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

// What a download into `dir` knows at its start.
Resumed resume(const std::string& dir, const std::string& mark = {}) {
  OpenOptions options = test::kOptions;
  options.mark = mark;
  Resumed resumed;
  REQUIRE(ContentStore::open_download(sample().manifest, dir, options, resumed).ok());
  return resumed;
}

TEST_CASE("a work folder out of an archive is not believed: what it says to have is hashed") {
  const TemporaryFolder dir;
  const auto generations = sample().count();
  {
    Resumed resumed;
    const auto store =
        ContentStore::open_download(sample().manifest, dir.path("own"), test::kOptions, resumed);
    REQUIRE(store.ok());
    for (std::uint32_t g = 0; g + 1 < generations; ++g)
      REQUIRE((*store)->write_generation(g, sample().generation(g)).ok());
    const auto [row, payload] = test::sample_row(sample(), generations - 1, 0);
    REQUIRE((*store)->write_row(row, payload).ok());
    REQUIRE((*store)->sync().ok());
  }
  const std::string file = "/.firn/" + sample().manifest.id.text() + "/data/a";
  std::vector<std::uint8_t> bytes = test::read_file(dir.path("own" + file));
  bytes[0] ^= 1;
  test::write_file(dir.path("own" + file), bytes);
  fs::copy(dir.path("own"), dir.path("unpacked"), fs::copy_options::recursive);
  fs::copy(dir.path("own"), dir.path("moved"), fs::copy_options::recursive);

  const Resumed unpacked = resume(dir.path("unpacked"));
  CHECK_FALSE(unpacked.verified[0]);
  CHECK(unpacked.verified[1]);
  CHECK(unpacked.rows.empty());
  // Of one's own, and of one that the daemon knows by its mark, the journal is believed.
  for (const Resumed& known : {resume(dir.path("own")), resume(dir.path("moved"), unpacked.mark)}) {
    CHECK(known.verified[0]);
    CHECK(known.rows.size() == 1);
  }
}

TEST_CASE("folders that another user made, or may write to, are not used") {
  if (::geteuid() != 0) return;  // only root gives files away
  constexpr uid_t kOther = 12345;
  const TemporaryFolder dir;
  const auto refused = [&] {
    const auto opened = mark_of_download(dir.path());
    return !opened.ok() && opened.error().code == ErrorCode::kExists &&
           opened.error().message().find("-o") != std::string::npos;
  };
  for (const std::string& folder : {dir.path(".firn"), dir.path("w")}) {
    CAPTURE(folder);
    REQUIRE(fs::create_directory(folder));
    REQUIRE(::chown(folder.c_str(), kOther, kOther) == 0);
    REQUIRE(::chmod(dir.path().c_str(), 01777) == 0);  // like /tmp
    CHECK(refused());
    REQUIRE(::chmod(dir.path().c_str(), 0755) == 0);
    REQUIRE(::chown(folder.c_str(), 0, 0) == 0);
    REQUIRE(::chmod(folder.c_str(), 0777) == 0);
    CHECK(refused());
    REQUIRE(::chmod(folder.c_str(), 01777) == 0);  // a new tmpfs
    CHECK_FALSE(refused());
    fs::remove_all(dir.path(".firn"));
    fs::remove_all(dir.path("w"));
  }
  // Who has a folder that is shared by a group, or owns it, may change everything in it anyway.
  REQUIRE(fs::create_directory(dir.path(".firn")));
  REQUIRE(::chown(dir.path(".firn").c_str(), kOther, kOther) == 0);
  REQUIRE(::chmod(dir.path().c_str(), 0775) == 0);
  CHECK_FALSE(refused());
  fs::remove_all(dir.path("w"));
  fs::remove_all(dir.path(".firn"));
  REQUIRE(fs::create_directory(dir.path(".firn")));
  REQUIRE(::chmod(dir.path().c_str(), 01777) == 0);
  REQUIRE(::chown(dir.path().c_str(), kOther, kOther) == 0);
  REQUIRE(::chown(dir.path(".firn").c_str(), kOther, kOther) == 0);
  CHECK_FALSE(refused());
}

}  // namespace
}  // namespace firn::store::work_mark_test
