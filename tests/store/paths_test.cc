// Links and odd things below the download folder: nothing may lead a write outside.
#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "client/store/content_store.h"
#include "client/store/posix_files.h"
#include "tests/store/sample_content.h"

namespace firn::store::paths_test {
namespace {

namespace fs = std::filesystem;
using test::Sample;
using test::TemporaryFolder;

const Sample& sample() {
  static const Sample kSample = test::make_sample("p", {{"d/a", 5000}, {"d/b", 3000}}, 4, 500);
  return kSample;
}

// Runs as much of a download as the store allows; false if anything was refused with kExists.
bool download(const std::string& dir, bool overwrite) {
  OpenOptions options = test::kOptions;
  options.overwrite = overwrite;
  Resumed resumed;
  auto store = ContentStore::open_download(sample().manifest, dir, options, resumed);
  if (!store) {
    CHECK(store.error().code == ErrorCode::kExists);
    return false;
  }
  for (std::uint32_t g = 0; g < sample().count(); ++g) {
    const Status written = (*store)->write_generation(g, sample().generation(g));
    if (!written) {
      CHECK(written.error().code == ErrorCode::kExists);
      return false;
    }
  }
  const Result<bool> finished = (*store)->finish();
  if (!finished) CHECK(finished.error().code == ErrorCode::kExists);
  return finished.ok();
}

TEST_CASE("links at any place below the folder are refused, and what they point to is untouched") {
  const std::string id = sample().manifest.id.text();
  for (const std::string& link :
       {std::string(".firn"), ".firn/" + id, ".firn/" + id + "/data", ".firn/" + id + "/data/d",
        std::string("p"), std::string("p/d")}) {
    for (const bool overwrite : {false, true}) {
      CAPTURE(link);
      const TemporaryFolder dir;
      const TemporaryFolder outside;
      fs::create_directories(fs::path(dir.path("in/" + link)).parent_path());
      fs::create_directory_symlink(outside.path(), dir.path("in/" + link));
      CHECK_FALSE(download(dir.path("in"), overwrite));
      CHECK(fs::is_empty(outside.path()));
    }
  }
}

TEST_CASE("a folder is made, or it is there; anything else of its name is refused") {
  const TemporaryFolder dir;
  const auto files = open_posix_files(dir.path(), false).value();
  fs::create_directory_symlink(dir.path(), dir.path("link"));
  std::ofstream(dir.path("file"));
  CHECK(files->make_folder("folder", 0777).value());
  CHECK_FALSE(files->make_folder("folder", 0777).value());
  for (const char* name : {"link", "file"}) {
    const auto made = files->make_folder(name, 0777);
    REQUIRE_FALSE(made.ok());
    CHECK(made.error().code == ErrorCode::kExists);
    CHECK(make_folders(*files, name + std::string("/below")).error().code == ErrorCode::kExists);
  }
  REQUIRE(make_folders(*files, "folder/a/b").ok());
  CHECK(fs::is_directory(dir.path("folder/a/b")));
}

TEST_CASE("links in place of the store's own files are refused") {
  const std::string work = ".firn/" + sample().manifest.id.text() + "/";
  for (const std::string name :
       {"lock", "journal", "manifest.firn.new", "journal.new", "data/d/a"}) {
    CAPTURE(name);
    const TemporaryFolder dir;
    test::write_file(dir.path("victim"), {1, 2, 3});
    fs::create_directories(fs::path(dir.path("in/" + work + name)).parent_path());
    fs::create_symlink(dir.path("victim"), dir.path("in/" + work + name));
    CHECK_FALSE(download(dir.path("in"), true));
    CHECK(test::read_file(dir.path("victim")).size() == 3);
  }
}

TEST_CASE("a link at a file's final path is replaced when overwriting, not followed") {
  const TemporaryFolder dir;
  test::write_file(dir.path("victim"), {1, 2, 3});
  fs::create_directories(dir.path("in/p/d"));
  fs::create_symlink(dir.path("victim"), dir.path("in/p/d/a"));
  CHECK_FALSE(download(dir.path("in"), false));
  CHECK(download(dir.path("in"), true));
  CHECK(test::read_file(dir.path("victim")).size() == 3);
  CHECK(test::read_file(dir.path("in/p/d/a")) == sample().file(0));
  CHECK_FALSE(fs::is_symlink(dir.path("in/p/d/a")));
}

TEST_CASE("a link put in place of a folder during the download is refused") {
  const TemporaryFolder dir;
  const TemporaryFolder outside;
  Resumed resumed;
  auto store = ContentStore::open_download(sample().manifest, dir.path(), test::kOptions, resumed);
  REQUIRE(store.ok());
  for (std::uint32_t g = 0; g < sample().count(); ++g) {
    REQUIRE((*store)->write_generation(g, sample().generation(g)).ok());
  }
  fs::remove(dir.path("p"));
  fs::create_directory_symlink(outside.path(), dir.path("p"));
  const Result<bool> finished = (*store)->finish();
  REQUIRE_FALSE(finished.ok());
  CHECK(finished.error().code == ErrorCode::kExists);
  CHECK(finished.error().message().find("symbolic link") != std::string::npos);
  CHECK(fs::is_empty(outside.path()));
  fs::remove(dir.path("p"));
  CHECK((*store)->finish().ok());
}

TEST_CASE("the folder itself may be reached through a link") {
  const TemporaryFolder dir;
  fs::create_directories(dir.path("real"));
  fs::create_directory_symlink(dir.path("real"), dir.path("link"));
  CHECK(download(dir.path("link"), false));
  CHECK(test::read_file(dir.path("real/p/d/b")) == sample().file(1));
}

TEST_CASE("a pipe in place of a file is refused without waiting for its other end") {
  const TemporaryFolder dir;
  const std::string work = ".firn/" + sample().manifest.id.text();
  fs::create_directories(dir.path(work));
  REQUIRE(::mkfifo(dir.path(work + "/journal").c_str(), 0600) == 0);
  CHECK_FALSE(download(dir.path(), true));
}

TEST_CASE("removing a tree removes links, not what they point to") {
  const TemporaryFolder dir;
  test::write_file(dir.path("kept/file"), {1});
  fs::create_directories(dir.path("tree/a/b"));
  test::write_file(dir.path("tree/a/f"), {1});
  fs::create_directory_symlink(dir.path("kept"), dir.path("tree/a/link"));
  auto files = open_posix_files(dir.path(), false);
  REQUIRE(files.ok());
  REQUIRE(remove_tree(**files, "tree").ok());
  CHECK_FALSE(fs::exists(dir.path("tree")));
  CHECK(fs::exists(dir.path("kept/file")));
  CHECK(remove_tree(**files, "tree").ok());
}

TEST_CASE("a folder that may not be written, or is no folder, is told by name") {
  const TemporaryFolder dir;
  test::write_file(dir.path("file"), {1});
  Resumed resumed;
  const auto no_folder =
      ContentStore::open_download(sample().manifest, dir.path("file"), test::kOptions, resumed);
  REQUIRE_FALSE(no_folder.ok());
  CHECK(no_folder.error().code == ErrorCode::kExists);
  CHECK(no_folder.error().message().find(dir.path("file")) != std::string::npos);
  if (::geteuid() == 0) return;  // root may write everywhere
  fs::create_directories(dir.path("closed"));
  fs::permissions(dir.path("closed"), fs::perms::owner_read | fs::perms::owner_exec);
  const auto closed =
      ContentStore::open_download(sample().manifest, dir.path("closed"), test::kOptions, resumed);
  REQUIRE_FALSE(closed.ok());
  CHECK(closed.error().code == ErrorCode::kReadOnly);
}

}  // namespace
}  // namespace firn::store::paths_test
