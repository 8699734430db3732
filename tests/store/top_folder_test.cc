// Whose the folder or file of a content's name is: in a folder that stood there before, a download
// makes and changes nothing.
#include <doctest/doctest.h>
#include <errno.h>

#include <filesystem>
#include <map>

#include "client/store/disk_store.h"
#include "client/store/posix_files.h"
#include "tests/store/folding_files.h"
#include "tests/store/memory_disk.h"
#include "tests/store/sample_content.h"

// Whether the file system knows flags of renameat2, by which the linker calls this (--wrap).
static bool rename_has_flags = true;

extern "C" int __real_renameat2(int, const char*, int, const char*, unsigned);
extern "C" int __wrap_renameat2(int from_folder, const char* from, int to_folder, const char* to,
                                unsigned flags) {
  if (flags != 0 && !rename_has_flags) {
    errno = EINVAL;
    return -1;
  }
  return __real_renameat2(from_folder, from, to_folder, to, flags);
}

namespace firn::store::top_folder_test {
namespace {

namespace fs = std::filesystem;
using test::FoldingFiles;
using test::MemoryDisk;
using test::Sample;
using test::TemporaryFolder;
using Bytes = std::vector<std::uint8_t>;

const Sample& folder_sample() {
  static const Sample kSample =
      test::make_sample("top", {{"a", 3000}, {"b/c", 1000}, {"e", 0}, {"f", 0, true}}, 4, 300);
  return kSample;
}

const Sample& file_sample() {
  static const Sample kSample = test::make_sample("readme", {{"", 5000}}, 4, 300);
  return kSample;
}

// A file system in memory; `folding`: README and readme are one name.
struct Disk : MemoryDisk {
  bool folding = false;

  std::unique_ptr<Files> files() {
    if (!folding) return mount();
    return std::make_unique<FoldingFiles>(mount());
  }

  // All of it under the name `top`, but for one file.
  void put_copy(const Sample& sample, const std::string& top, const std::string& but = "-") {
    for (std::uint32_t i = 0; i < sample.info().files.size(); ++i) {
      const FileEntry& entry = sample.info().files[i];
      if (entry.path == but) continue;
      const std::string path = sample.info().single_file ? top : top + "/" + entry.path;
      if (entry.kind == FileEntry::Kind::kFolder) {
        REQUIRE(make_folders(*mount(), path).ok());
      } else {
        put(path, sample.file(i));
      }
    }
  }

  std::map<std::string, Bytes> contents() const {
    std::map<std::string, Bytes> found;
    for (const std::string& path : paths()) found[path] = bytes_of(path);
    return found;
  }
};

enum class Wish { kNone, kRepair, kOverwrite };

OpenOptions options_of(Wish wish) {
  OpenOptions options = test::kOptions;
  options.repair = wish == Wish::kRepair;
  options.overwrite = wish == Wish::kOverwrite;
  return options;
}

Result<std::unique_ptr<DiskStore>> try_open(Disk& disk, const Sample& sample, Resumed& resumed,
                                            Wish wish = Wish::kNone) {
  return DiskStore::open_download(disk.files(), sample.manifest, options_of(wish), resumed);
}

// A whole download.
Status download(Disk& disk, const Sample& sample, Wish wish = Wish::kNone) {
  Resumed resumed;
  auto store = try_open(disk, sample, resumed, wish);
  if (!store) return store.error();
  for (std::uint32_t g = 0; g < sample.count(); ++g) {
    if (resumed.verified[g]) continue;
    if (Status s = (*store)->write_generation(g, sample.generation(g)); !s) return s;
  }
  const Result<bool> finished = (*store)->finish();
  if (!finished) return finished.error();
  return Done{};
}

void check_refused(Disk& disk, const Sample& sample, const std::string& word) {
  const auto before = disk.contents();
  const std::uint64_t changes = disk.changes();
  Resumed resumed;
  const auto store = try_open(disk, sample, resumed);
  REQUIRE_FALSE(store.ok());
  CHECK(store.error().code == ErrorCode::kExists);
  CHECK_MESSAGE(store.error().message().find(word) != std::string::npos, store.error().message());
  CHECK(disk.contents() == before);
  CHECK(disk.changes() == changes);
  CHECK_FALSE(disk.exists(".firn"));  // nothing that a later try would take for a mark
}

TEST_CASE("a folder that stood there before takes in no file of a content") {
  for (const bool folding : {false, true}) {
    CAPTURE(folding);
    Disk disk;
    disk.folding = folding;
    disk.put(folding ? "TOP/mine" : "top/mine", {1, 2, 3});
    check_refused(disk, folder_sample(), "another name (--as)");
    check_refused(disk, folder_sample(), "another name (--as)");
  }
}

TEST_CASE("some right files do not make a folder the content's") {
  for (const bool folding : {false, true}) {
    CAPTURE(folding);
    Disk disk;
    disk.folding = folding;
    disk.put_copy(folder_sample(), folding ? "ToP" : "top", "b/c");
    check_refused(disk, folder_sample(),
                  "1 of 4 files and folders not as the manifest says: b/c (missing); --repair");
  }
}

TEST_CASE("an empty folder of the name is used") {
  for (const bool folding : {false, true}) {
    Disk disk;
    disk.folding = folding;
    const std::string top = folding ? "Top" : "top";
    REQUIRE(make_folders(*disk.mount(), top).ok());
    REQUIRE(download(disk, folder_sample()).ok());
    CHECK(disk.bytes_of(top + "/b/c") == folder_sample().file(1));
  }
}

TEST_CASE("where all of a content stands and is right, nothing is written") {
  for (const Sample* sample : {&folder_sample(), &file_sample()}) {
    for (const bool folding : {false, true}) {
      CAPTURE(folding);
      Disk disk;
      disk.folding = folding;
      std::string name = sample->info().name;
      if (folding) name[0] = static_cast<char>(name[0] - 'a' + 'A');
      disk.put_copy(*sample, name);
      const std::uint64_t changes = disk.changes();
      REQUIRE(download(disk, *sample).ok());
      CHECK(disk.changes() == changes);
    }
  }
}

TEST_CASE("a wish to repair or to overwrite opens a folder that stood there before") {
  for (const Wish wish : {Wish::kRepair, Wish::kOverwrite}) {
    for (const bool folding : {false, true}) {
      Disk disk;
      disk.folding = folding;
      const std::string top = folding ? "TOP" : "top";
      disk.put(top + "/mine", {1, 2, 3});
      disk.put(top + "/a", {4});
      REQUIRE(download(disk, folder_sample(), wish).ok());
      CHECK(disk.bytes_of(top + "/a") == folder_sample().file(0));
      CHECK(disk.bytes_of(top + "/b/c") == folder_sample().file(1));
      CHECK(disk.bytes_of(top + "/mine") == Bytes{1, 2, 3});
    }
  }
}

TEST_CASE("a download goes on in the folder that it has made, whatever came into it") {
  for (const bool folding : {false, true}) {
    Disk disk;
    disk.folding = folding;
    Resumed resumed;
    {
      const auto store = try_open(disk, folder_sample(), resumed);
      REQUIRE(store.ok());
      CHECK(disk.exists("top"));  // at the start
      REQUIRE((*store)->write_generation(0, folder_sample().generation(0)).ok());
    }
    disk.put("top/mine", {1, 2, 3});
    REQUIRE(download(disk, folder_sample()).ok());
    CHECK(disk.bytes_of("top/a") == folder_sample().file(0));
    CHECK(disk.bytes_of("top/mine") == Bytes{1, 2, 3});
  }
}

TEST_CASE("a download that goes on under another name begins there, and goes on under that") {
  Disk disk;
  const auto open_as = [&disk](const std::string& as, Resumed& resumed) {
    OpenOptions options = test::kOptions;
    options.as = as;
    return DiskStore::open_download(disk.files(), folder_sample().manifest, options, resumed);
  };
  const auto finish = [](DiskStore& store, const Resumed& resumed) {
    for (std::uint32_t g = 0; g < folder_sample().count(); ++g)
      if (!resumed.verified[g])
        REQUIRE(store.write_generation(g, folder_sample().generation(g)).ok());
    REQUIRE(store.finish().ok());
  };
  Resumed resumed;
  REQUIRE(open_as("one", resumed).ok());
  disk.put("one/mine", {1});
  disk.put("two/mine", {2});
  disk.put("top/mine", {3});
  for (const std::string as : {"two", ""}) {
    const auto before = disk.contents();
    const auto refused = open_as(as, resumed);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kExists);
    CHECK(disk.contents() == before);
  }
  {
    const auto store = open_as("three", resumed);
    REQUIRE(store.ok());
    REQUIRE((*store)->write_generation(0, folder_sample().generation(0)).ok());
    REQUIRE((*store)->sync().ok());
  }
  disk.put("three/mine", {4});
  CHECK_FALSE(open_as("one", resumed).ok());
  const auto store = open_as("three", resumed);
  REQUIRE(store.ok());
  CHECK(resumed.verified[0]);
  finish(**store, resumed);
  CHECK(disk.bytes_of("three/a") == folder_sample().file(0));
  CHECK_FALSE(disk.exists(".firn"));
  CHECK(disk.bytes_of("one/mine") == Bytes{1});
}

TEST_CASE("a kill at any change of a download under another name costs its bytes at most") {
  for (std::uint64_t change = 1;; ++change) {
    CAPTURE(change);
    Disk disk;
    disk.kill_at(change);
    OpenOptions options = test::kOptions;
    options.as = "one";
    Resumed resumed;
    const bool opened =
        DiskStore::open_download(disk.files(), folder_sample().manifest, options, resumed).ok();
    disk.restart();
    const auto again =
        DiskStore::open_download(disk.files(), folder_sample().manifest, options, resumed);
    REQUIRE_MESSAGE(again.ok(), (again ? "" : again.error().message()));
    if (opened) break;
  }
}

TEST_CASE("a download of the last version, which made its folder late, goes on") {
  Disk disk;
  const std::string work = ".firn/" + folder_sample().manifest.id.text();
  disk.put(work + "/data/a", folder_sample().file(0));
  disk.put("top/b/c", folder_sample().file(1));
  REQUIRE(download(disk, folder_sample()).ok());
  CHECK(disk.bytes_of("top/a") == folder_sample().file(0));
}

TEST_CASE("a kill between the making of the folder and its mark takes nothing and stops nothing") {
  const auto killed = [](Disk& disk) {
    disk.kill_at(1);  // the folder is the first change
    CHECK_FALSE(download(disk, folder_sample()).ok());
    disk.restart();
    REQUIRE(disk.exists("top"));
    REQUIRE_FALSE(disk.exists(".firn"));
  };
  {
    Disk disk;
    killed(disk);
    CHECK(download(disk, folder_sample()).ok());
  }
  Disk disk;
  killed(disk);
  disk.put("top/mine", {1});
  check_refused(disk, folder_sample(), "another folder");
}

TEST_CASE("a file that stood there before is replaced by a wish alone") {
  for (const bool folding : {false, true}) {
    Disk disk;
    disk.folding = folding;
    const std::string name = folding ? "README" : "readme";
    disk.put(name, {1, 2, 3});
    check_refused(disk, file_sample(), "readme");
    CHECK(disk.bytes_of(name) == Bytes{1, 2, 3});
    REQUIRE(download(disk, file_sample(), Wish::kOverwrite).ok());
    CHECK(disk.bytes_of(name) == file_sample().file(0));
  }
}

TEST_CASE("a file that comes meanwhile keeps its name, in every sense of case") {
  for (const bool folding : {false, true}) {
    for (const bool linking : {false, true}) {
      Disk disk;
      disk.folding = folding;
      disk.rename_by_linking(linking);
      const std::string name = folding ? "README" : "readme";
      Resumed resumed;
      const auto store = try_open(disk, file_sample(), resumed);
      REQUIRE(store.ok());
      for (std::uint32_t g = 0; g < file_sample().count(); ++g)
        REQUIRE((*store)->write_generation(g, file_sample().generation(g)).ok());
      disk.put(name, {1, 2, 3});
      const auto finished = (*store)->finish();
      REQUIRE_FALSE(finished.ok());
      CHECK(finished.error().code == ErrorCode::kExists);
      CHECK(disk.bytes_of(name) == Bytes{1, 2, 3});
      disk.erase(name);
      REQUIRE((*store)->finish().ok());
      CHECK(disk.bytes_of("readme") == file_sample().file(0));
    }
  }
}

TEST_CASE("a kill at any change is harmless where a file is named by linking") {
  for (const Sample* sample : {&folder_sample(), &file_sample()}) {
    Disk whole;
    whole.rename_by_linking(true);
    REQUIRE(download(whole, *sample).ok());
    for (std::uint64_t cut = 0; cut < whole.changes(); ++cut) {
      CAPTURE(cut);
      Disk disk;
      disk.rename_by_linking(true);
      disk.kill_at(cut);
      CHECK_FALSE(download(disk, *sample).ok());
      disk.restart();
      const Status again = download(disk, *sample);
      REQUIRE_MESSAGE(again.ok(), (again ? "" : again.error().message()));
      CHECK(disk.contents() == whole.contents());
    }
  }
}

TEST_CASE("without RENAME_NOREPLACE a file that stands keeps its name, and a kill costs nothing") {
  rename_has_flags = false;
  const TemporaryFolder dir;
  const auto files = open_posix_files(dir.path(), false);
  REQUIRE(files.ok());
  test::write_file(dir.path("from"), {1});
  test::write_file(dir.path("to"), {2});
  const Status refused = (*files)->rename("from", "to", false);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kExists);
  CHECK(test::read_file(dir.path("to")) == Bytes{2});

  CHECK((*files)->rename("from", "free", false).ok());
  CHECK_FALSE(fs::exists(dir.path("from")));
  fs::create_hard_link(dir.path("free"), dir.path("from"));  // as a kill leaves it
  CHECK((*files)->rename("from", "free", false).ok());
  CHECK_FALSE(fs::exists(dir.path("from")));
  CHECK(test::read_file(dir.path("free")) == Bytes{1});

  fs::create_symlink("nowhere", dir.path("link"));
  CHECK((*files)->rename("link", "moved", false).ok());
  CHECK(fs::is_symlink(dir.path("moved")));
  fs::create_directories(dir.path("folder"));
  CHECK((*files)->rename("folder", "elsewhere", false).ok());
  CHECK((*files)->rename("elsewhere", "to", false).error().code == ErrorCode::kExists);
  rename_has_flags = true;
}

TEST_CASE("a link or a file in place of the folder is not used, nor replaced") {
  for (const Wish wish : {Wish::kNone, Wish::kRepair, Wish::kOverwrite}) {
    const TemporaryFolder dir;
    const TemporaryFolder outside;
    const auto refused = [&] {
      Resumed resumed;
      const auto store = ContentStore::open_download(folder_sample().manifest, dir.path(),
                                                     options_of(wish), resumed);
      REQUIRE_FALSE(store.ok());
      CHECK(store.error().code == ErrorCode::kExists);
      CHECK_FALSE(fs::exists(dir.path(".firn")));
    };
    fs::create_directory_symlink(outside.path(), dir.path("top"));
    refused();
    CHECK(fs::is_empty(outside.path()));
    fs::remove(dir.path("top"));
    test::write_file(dir.path("top"), {1});
    refused();
    CHECK(test::read_file(dir.path("top")) == Bytes{1});
  }
}

}  // namespace
}  // namespace firn::store::top_folder_test
