// Names of a content that a file system takes for one are found before a byte is fetched.
#include <doctest/doctest.h>

#include "client/content/division.h"
#include "client/store/disk_store.h"
#include "client/store/names.h"
#include "tests/store/folding_files.h"
#include "tests/store/memory_disk.h"
#include "tests/store/sample_content.h"

namespace firn::store::names_test {
namespace {

using test::FoldingFiles;
using test::MemoryDisk;
using test::Sample;
using test::SampleFile;

Sample sample_of(const std::vector<SampleFile>& files) {
  return test::make_sample("top", files, 4, 300);
}

Status download(std::unique_ptr<Files> files, const Sample& sample, bool repair = false,
                const std::vector<bool>& chosen = {}) {
  OpenOptions options = test::kOptions;
  options.repair = repair;
  options.chosen = chosen;
  Resumed resumed;
  auto store = DiskStore::open_download(std::move(files), sample.manifest, options, resumed);
  if (!store) return store.error();
  const std::vector<bool> wanted = content::wanted_generations(sample.info(), chosen);
  for (std::uint32_t g = 0; g < sample.count(); ++g) {
    if (resumed.verified[g] || !wanted[g]) continue;
    if (Status s = (*store)->write_generation(g, sample.generation(g)); !s) return s;
  }
  const Result<bool> finished = (*store)->finish();
  return finished ? Status(Done{}) : finished.error();
}

std::unique_ptr<Files> folding(MemoryDisk& disk) {
  return std::make_unique<FoldingFiles>(disk.mount());
}

struct Collision {
  std::vector<SampleFile> files;
  std::string first, second;  // as the error tells them
};

const std::vector<Collision>& collisions() {
  static const std::vector<Collision> kCollisions = {
      {{{"README", 400}, {"data", 3000}, {"readme", 500}}, "README", "readme"},
      {{{"a/Deep/x", 400}, {"a/b", 10}, {"a/deep/y", 500}}, "a/Deep", "a/deep"},
      {{{"doc", 400}, {"DOC/x", 500}}, "doc", "DOC"},
      {{{"e", 0}, {"E", 0, true}, {"x", 10}}, "e", "E"},
      {{{"x", 10}, {"Link", 0, false, "x"}, {"link", 0, false, "x"}}, "Link", "link"}};
  return kCollisions;
}

TEST_CASE("two names that the file system takes for one refuse a download, which leaves nothing") {
  for (const Collision& one : collisions()) {
    CAPTURE(one.first);
    const Sample sample = sample_of(one.files);
    MemoryDisk disk;
    for (int i = 0; i < 2; ++i) {
      const Status refused = download(folding(disk), sample);
      REQUIRE_FALSE(refused.ok());
      CHECK(refused.error().code == ErrorCode::kExists);
      CHECK_MESSAGE(
          refused.error().message().find(one.first + " and " + one.second) != std::string::npos,
          refused.error().message());
      CHECK(disk.paths().empty());
      CHECK_FALSE(disk.exists("top"));
      CHECK_FALSE(disk.exists(".firn"));
    }
    CHECK(download(disk.mount(), sample).ok());  // where they are two
  }
}

TEST_CASE("names that are one do not matter where the other is neither chosen nor shares bytes") {
  // Generations of 1200 bytes: README ends in 2. The file between begins in 2 too, and readme with
  // it, or has two of its own.
  for (const std::uint64_t between : {100, 2400}) {
    CAPTURE(between);
    const Sample sample = sample_of({{"README", 2500}, {"data", between}, {"readme", 600}});
    MemoryDisk disk;
    const Status got = download(folding(disk), sample, false, {true, false, false});
    CHECK(got.ok() == (between == 2400));
    if (!got) {
      CHECK(got.error().code == ErrorCode::kExists);
      CHECK_FALSE(disk.exists(".firn"));
      continue;
    }
    CHECK(disk.bytes_of("top/README") == sample.file(0));
    // Of a wider choice they are told before a byte is fetched, and the choice stays as it was.
    CHECK(download(folding(disk), sample, false, {true, true, false}).ok());
    const Status refused = download(folding(disk), sample);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message().find("README and readme") != std::string::npos);
    Resumed resumed;
    OpenOptions options = test::kOptions;
    options.chosen = {true, true, false};
    const auto store = DiskStore::open_download(folding(disk), sample.manifest, options, resumed);
    REQUIRE(store.ok());
    const Status wider = (*store)->choose({});
    REQUIRE_FALSE(wider.ok());
    CHECK(wider.error().code == ErrorCode::kUnsupported);
    CHECK(*(*store)->finish());
  }
}

TEST_CASE("what stood there before is as it was after such a refusal") {
  const Sample sample = sample_of(collisions()[0].files);
  for (const bool empty : {true, false}) {
    MemoryDisk disk;
    disk.put(".firn/medium-" + sample.manifest.id.short_text() + "-x.rows", {1});
    if (empty) {
      REQUIRE(make_folders(*disk.mount(), "top").ok());
    } else {
      disk.put("top/data", sample.file(1));
      disk.put("top/mine", {2});
    }
    const auto before = disk.paths();
    CHECK_FALSE(download(folding(disk), sample, !empty).ok());
    CHECK(disk.paths() == before);
    CHECK(disk.exists("top"));
  }
}

TEST_CASE("a kill at any moment changes neither the refusal nor a download without such names") {
  for (const bool collide : {true, false}) {
    const Sample sample =
        sample_of(collide ? collisions()[0].files
                          : std::vector<SampleFile>{{"README", 400}, {"b/c", 500}, {"f", 0, true}});
    MemoryDisk whole;
    CHECK(download(folding(whole), sample).ok() == !collide);
    for (std::uint64_t cut = 0; cut < whole.changes(); ++cut) {
      CAPTURE(cut);
      MemoryDisk disk;
      disk.kill_at(cut);
      (void)download(folding(disk), sample).ok();
      disk.restart();
      CHECK(download(folding(disk), sample).ok() == !collide);
      CHECK(disk.paths() == whole.paths());
      CHECK_FALSE(disk.exists(".firn"));
    }
  }
}

TEST_CASE("a wish to stop is followed between the folders of one path") {
  const Sample sample = sample_of({{"a/b/c/d/e/f", 10}});
  MemoryDisk disk;
  int answers = 4;  // of which the last is the wish to stop
  const auto stop = [&] { return --answers == 0; };
  const Status stopped = make_names(*disk.mount(), sample.manifest.info, "names", {}, stop);
  REQUIRE_FALSE(stopped.ok());
  CHECK(stopped.error().code == ErrorCode::kCancelled);
  const FileKind third = (*disk.mount()->stat("names.new/a/b/c")).kind;
  CHECK(third == FileKind::kMissing);
  // What was made is removed by the next call, which can be stopped likewise.
  answers = 3;
  CHECK(make_names(*disk.mount(), sample.manifest.info, "names", {}, stop).error().code ==
        ErrorCode::kCancelled);
  CHECK((*disk.mount()->stat("names.new/a/b")).kind == FileKind::kFolder);
  CHECK(make_names(*disk.mount(), sample.manifest.info, "names", {}, {}).ok());
}

TEST_CASE("a wider choice tries new names and what stands beside them, a narrower one nothing") {
  const Sample sample =
      sample_of({{"a/b/old", 1200}, {"a/b/new", 1200}, {"c/d/e", 1200}, {"c/f", 1200}});
  const std::vector<bool> known = {true, false, true, true}, all(4, true);
  MemoryDisk disk;
  const auto files = disk.mount();
  CHECK(make_names(*files, sample.manifest.info, "names", known, {}, &all).ok());
  CHECK(disk.changes() == 0);
  CHECK(make_names(*files, sample.manifest.info, "names", all, {}, &known).ok());
  CHECK(disk.paths() == std::vector<std::string>{"names/a/b/new", "names/a/b/old"});
  CHECK((*files->stat("names/c")).kind == FileKind::kFolder);
}

TEST_CASE("a wider choice is refused if a new name and one known before are one") {
  const std::vector<std::pair<std::string, std::string>> collisions = {
      {"a/README", "a/readme"}, {"A/x", "a/y"}, {"d/A/x/y", "d/a/y/z"}, {"b", "B/x"}, {"B/x", "b"}};
  for (const auto& one : collisions) {
    CAPTURE(one.first);
    const Sample sample = sample_of({{one.first, 1200}, {one.second, 1200}, {"other", 1200}});
    const std::vector<bool> known = {true, false, true}, all(3, true);
    MemoryDisk disk;
    const auto files = folding(disk);
    CHECK(make_names(*files, sample.manifest.info, "names", known, {}).ok());
    const Status refused = make_names(*files, sample.manifest.info, "names", all, {}, &known);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kExists);
    CHECK(disk.paths().empty());
  }
}

TEST_CASE("what a kill left of a choice is gone after the next opening") {
  const Sample sample = sample_of({{"a", 1200}, {"b", 1200}});
  const std::vector<bool> only_a = {true, false};
  MemoryDisk disk;
  REQUIRE(download(disk.mount(), sample, false, only_a).ok());
  const std::string fresh = ".firn/" + sample.manifest.id.text() + "/data.new";
  disk.put(".firn/" + sample.manifest.id.text() + "/data/b", {});
  disk.put(fresh + "/b", {});
  CHECK(download(disk.mount(), sample, false, only_a).ok());
  CHECK_FALSE(disk.exists(fresh));
}

TEST_CASE("a download of the last version, which has begun, is not refused") {
  const Sample sample = sample_of({{"a", 3000}, {"b", 500}});
  MemoryDisk disk;
  disk.put(".firn/" + sample.manifest.id.text() + "/data/a", sample.file(0));
  CHECK(download(folding(disk), sample).ok());
  CHECK(disk.bytes_of("top/b") == sample.file(1));
}

}  // namespace
}  // namespace firn::store::names_test
