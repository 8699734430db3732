// A download of some of a content's files, and changes of mind.
#include <doctest/doctest.h>

#include <filesystem>
#include <thread>

#include "client/content/division.h"
#include "client/store/content_store.h"
#include "client/store/kept_choice.h"
#include "client/store/work_folder.h"
#include "tests/store/choice_sample.h"

namespace firn::store::choice_test {
namespace {

namespace fs = std::filesystem;
using namespace test;

const Sample& sample() {
  return choice_sample();
}

struct Download {
  Download(const TemporaryFolder& dir, const OpenOptions& options) {
    auto opened = ContentStore::open_download(sample().manifest, dir.path(), options, resumed);
    REQUIRE_MESSAGE(opened.ok(), (opened ? "" : opened.error().message()));
    store = *std::move(opened);
  }
  void write(std::initializer_list<std::uint32_t> generations) const {
    for (const std::uint32_t g : generations)
      REQUIRE(store->write_generation(g, sample().generation(g)).ok());
  }
  bool finish() const {
    const Result<bool> finished = store->finish();
    REQUIRE_MESSAGE(finished.ok(), (finished ? "" : finished.error().message()));
    return *finished;
  }
  void check_served(std::initializer_list<std::uint32_t> generations) const {
    for (const std::uint32_t g : generations) {
      CAPTURE(g);
      std::vector<std::uint8_t> out(sample().shape().padded_bytes(g));
      const Status read = store->read_generation(g, out);
      REQUIRE_MESSAGE(read.ok(), (read ? "" : read.error().message()));
      CHECK(out == sample().generation(g));
    }
  }

  Resumed resumed;
  std::unique_ptr<ContentStore> store;
};

std::string path_of(Entry file) {
  return "o/" + sample().info().files[file].path;
}

std::string work(const std::string& below) {
  return ".firn/" + sample().manifest.id.text() + "/" + below;
}

// Just these bear their names, and what should have bytes has the right ones.
void check_named(const TemporaryFolder& dir, std::initializer_list<Entry> files) {
  const Choice named = choice_of(files);
  for (std::uint32_t file = 0; file < kFileCount; ++file) {
    CAPTURE(file);
    const std::string path = dir.path(path_of(Entry(file)));
    CHECK(fs::exists(fs::symlink_status(path)) == named[file]);
    if (named[file] && file <= kC) CHECK(test::read_file(path) == sample().file(file));
  }
}

std::vector<std::uint32_t> verified_in(const Resumed& resumed) {
  return indices_of(resumed.verified);
}

// A download of b alone that is finished: of a the work folder has what is in generation 3.
void finish_b(const TemporaryFolder& dir) {
  const Download download(dir, choosing(kOnlyB));
  download.write({3, 4});
  REQUIRE(download.finish());
}

TEST_CASE("what is chosen is finished with its generations, and the others have no names") {
  const TemporaryFolder dir;
  const Download download(dir, choosing(kOnlyB));
  download.write({4});
  CHECK_FALSE(download.finish());
  check_named(dir, {});
  download.write({3});
  CHECK(download.finish());
  check_named(dir, {kB});
  CHECK(fs::exists(dir.path(work("journal"))));
  download.check_served({3, 4});
  CHECK(download.finish());
}

TEST_CASE("a file that is complete by chance has no name before it is chosen, then with a sync") {
  const TemporaryFolder dir;
  const Download download(dir, choosing(kOnlyA));
  download.write({0, 1, 2, 3, 4});
  REQUIRE(download.store->sync().ok());
  check_named(dir, {kA});
  CHECK(download.finish());
  check_named(dir, {kA});
  REQUIRE(download.store->choose(choice_of({kA, kB})).ok());
  check_named(dir, {kA});
  REQUIRE(download.store->sync().ok());
  check_named(dir, {kA, kB});
  CHECK(download.finish());
}

TEST_CASE("after a choice is finished more can be chosen, up to all, which ends as ever") {
  const TemporaryFolder dir;
  const Download download(dir, choosing(kOnlyB));
  download.write({3, 4});
  REQUIRE(download.finish());
  REQUIRE(download.store->choose(choice_of({kB, kC, kEmpty})).ok());
  CHECK_FALSE(download.finish());
  download.write({5, 6, 7});
  CHECK(download.finish());
  check_named(dir, {kB, kC, kEmpty});
  REQUIRE(download.store->choose({}).ok());
  CHECK_FALSE(download.finish());
  download.write({0, 1, 2});
  CHECK(download.finish());
  check_named(dir, {kA, kB, kC, kEmpty, kLink, kFolder});
  CHECK_FALSE(fs::exists(dir.path(".firn")));
  REQUIRE(download.store->choose(kOnlyA).ok());  // too late to matter
  download.check_served({0, 3, 7});
  const auto report = verify_content(sample().manifest, dir.path(), test::kOptions);
  CHECK(report->bad_files.empty());
}

TEST_CASE("links, empty files and folders are made only if they are chosen") {
  const TemporaryFolder dir;
  const Download download(dir, choosing(choice_of({kLink})));
  CHECK(download.finish());
  check_named(dir, {kLink});
  REQUIRE(download.store->choose(choice_of({kFolder})).ok());
  CHECK(download.finish());
  check_named(dir, {kLink, kFolder});
}

TEST_CASE("what is not chosen any more keeps its name, or what it has in the work folder") {
  const TemporaryFolder dir;
  {
    const Download download(dir, choosing({}));
    download.write({3, 4, 5});
    REQUIRE(download.store->sync().ok());
    check_named(dir, {kB});
    REQUIRE(download.store->choose(kOnlyA).ok());
    download.write({0, 1, 2});
    CHECK(download.finish());
    check_named(dir, {kA, kB});
    download.check_served({3, 4, 5});
  }
  const Download again(dir, choosing(kOnlyC));
  CHECK(verified_in(again.resumed) == std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5});
  again.write({6, 7});
  CHECK(again.finish());
  check_named(dir, {kA, kB, kC});
}

TEST_CASE("a run with another choice keeps generations and rows of the last one") {
  for (const Choice& next : {Choice(), kOnlyA, kOnlyB, kOnlyC, choice_of({kB, kC})}) {
    const TemporaryFolder dir;
    const auto [row, payload] = test::sample_row(sample(), 4, 0);
    {
      const Download download(dir, choosing(choice_of({kA, kB})));
      download.write({0, 3});
      REQUIRE(download.store->write_row(row, payload).ok());
      REQUIRE(download.store->sync().ok());
    }
    const Download again(dir, choosing(next));
    CHECK(verified_in(again.resumed) == std::vector<std::uint32_t>{0, 3});
    REQUIRE(again.resumed.rows.size() == 1);
    CHECK(again.resumed.rows[0].slot == row.slot);
    again.check_served({0, 3});
  }
}

TEST_CASE("what stands at the path of a file that is not chosen is no conflict and left alone") {
  for (const bool right_size : {true, false}) {
    for (const int remedy : {0, 1, 2}) {
      CAPTURE(right_size);
      CAPTURE(remedy);
      const TemporaryFolder dir;
      finish_b(dir);
      std::vector<std::uint8_t> other = sample().file(kA);
      other[6500] ^= 1;
      if (!right_size) other.resize(100);
      test::write_file(dir.path(path_of(kA)), other);
      test::write_file(dir.path(path_of(kC)), std::vector<std::uint8_t>(6000, 7));
      OpenOptions options = choosing(kOnlyB);
      options.repair = remedy == 1;
      options.overwrite = remedy == 2;
      const Download download(dir, options);
      CHECK(verified_in(download.resumed) == std::vector<std::uint32_t>{3, 4});
      download.check_served({3, 4});
      CHECK(download.finish());
      CHECK(test::read_file(dir.path(path_of(kA))) == other);
      CHECK(test::read_file(dir.path(path_of(kC))) == std::vector<std::uint8_t>(6000, 7));
    }
  }
}

TEST_CASE("a wrong file of the user that is not chosen is not read for the generation it shares") {
  const TemporaryFolder dir;
  {
    const Download download(dir, choosing(kOnlyC));  // nothing of a is in the work folder
    download.write({5, 6, 7});
    REQUIRE(download.finish());
  }
  std::vector<std::uint8_t> other = sample().file(kA);
  other[6500] ^= 1;
  test::write_file(dir.path(path_of(kA)), other);
  const Download download(dir, choosing(kOnlyB));
  CHECK(verified_in(download.resumed) == std::vector<std::uint32_t>{5, 6, 7});
  download.write({3, 4});
  CHECK(download.finish());
  download.check_served({3, 4, 5});
  CHECK(test::read_file(dir.path(path_of(kA))) == other);
}

TEST_CASE("a right file of the user that is not chosen is served, and has its name when chosen") {
  const TemporaryFolder dir;
  finish_b(dir);
  test::write_file(dir.path(path_of(kC)), sample().file(kC));
  const Download download(dir, choosing(kOnlyB));
  CHECK(verified_in(download.resumed) == std::vector<std::uint32_t>{3, 4, 5, 6, 7});
  download.check_served({5, 6, 7});
  REQUIRE(download.store->choose(choice_of({kB, kC})).ok());
  CHECK(download.finish());
}

TEST_CASE(
    "a file that is chosen later does not replace what took its name, and holds up no other") {
  const TemporaryFolder dir;
  {
    const Download download(dir, choosing(kOnlyB));
    download.write({0, 1, 2, 3, 4});
    test::write_file(dir.path(path_of(kA)), {1, 2, 3});
    REQUIRE(download.store->choose(choice_of({kA, kB})).ok());
    const Status synced = download.store->sync();
    REQUIRE_FALSE(synced.ok());
    CHECK(synced.error().code == ErrorCode::kExists);
    CHECK(fs::exists(dir.path(path_of(kB))));
    CHECK(test::read_file(dir.path(path_of(kA))).size() == 3);
  }
  Resumed resumed;
  const auto refused =
      ContentStore::open_download(sample().manifest, dir.path(), choosing(kOnlyA), resumed);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().code == ErrorCode::kExists);
  // The choice that was refused is not kept.
  CHECK(*kept_choice(dir.path(), sample().manifest) == choice_of({kA, kB}));
}

TEST_CASE("a folder that no download made is refused, naming what is chosen and not there") {
  const TemporaryFolder dir;
  test::write_file(dir.path(path_of(kB)), sample().file(kB));
  const auto message = [&](const Choice& chosen) {
    Resumed resumed;
    const auto refused =
        ContentStore::open_download(sample().manifest, dir.path(), choosing(chosen), resumed);
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kExists);
    CHECK_FALSE(fs::exists(dir.path(".firn")));
    return refused.error().message();
  };
  CHECK(message(choice_of({kA, kB})).find("a (missing);") != std::string::npos);
  CHECK(message(kOnlyB).find("all that was chosen is there") != std::string::npos);
  OpenOptions options = choosing(kOnlyB);
  options.repair = true;
  const Download download(dir, options);
  download.write({3});
  if (!download.resumed.verified[4]) download.write({4});
  CHECK(download.finish());
  check_named(dir, {kB});
}

TEST_CASE("a content that is all there is open for serving, whatever is chosen") {
  const TemporaryFolder dir;
  {
    const Download download(dir, choosing({}));
    download.write({0, 1, 2, 3, 4, 5, 6, 7});
    REQUIRE(download.finish());
  }
  const Download again(dir, choosing(kOnlyB));
  CHECK(again.resumed.verified == std::vector<bool>(sample().count(), true));
  CHECK(again.finish());
  CHECK_FALSE(fs::exists(dir.path(".firn")));
}

TEST_CASE("a later run finds the choice that was last made; one that is damaged is an error") {
  const TemporaryFolder dir;
  const auto kept = [&] { return kept_choice(dir.path(), sample().manifest); };
  CHECK(kept()->empty());
  CHECK(kept_choice(dir.path("nowhere"), sample().manifest)->empty());
  {
    const Download download(dir, choosing(kOnlyB));
    CHECK(*kept() == kOnlyB);
    REQUIRE(download.store->choose(kOnlyC).ok());
    CHECK(*kept() == kOnlyC);
    REQUIRE(download.store->choose({}).ok());
    CHECK(kept()->empty());
    REQUIRE(download.store->choose(kOnlyB).ok());
  }
  CHECK(test::read_file(dir.path(work("choice"))) ==
        std::vector<std::uint8_t>{'0', '1', '0', '0', '0', '0'});
  for (const std::string bad : {"", "01000", "0100000", "01000x"}) {
    test::write_file(dir.path(work("choice")), {bad.begin(), bad.end()});
    REQUIRE_FALSE(kept().ok());
    CHECK(kept().error().code == ErrorCode::kCorrupt);
    const auto report = verify_content(sample().manifest, dir.path(), test::kOptions);
    CHECK(report->warning.find("choice") != std::string::npos);
    CHECK(report->bad_count == kFileCount);
  }
  {
    const Download download(dir, choosing(kOnlyB));
    CHECK(*kept() == kOnlyB);
  }
  test::write_file(dir.path(work("choice")), {});
  const Download all(dir, choosing({}));
  CHECK(kept().ok());
}

TEST_CASE("a part of a content is opened for serving with the choice that it keeps") {
  const TemporaryFolder dir;
  finish_b(dir);
  const auto kept = kept_choice(dir.path(), sample().manifest);
  REQUIRE(kept.ok());
  const Download served(dir, choosing(*kept));
  CHECK(served.resumed.verified == content::wanted_generations(sample().info(), *kept));
  CHECK(served.finish());
  served.check_served({3, 4});
}

TEST_CASE("verifying a part of a content looks at what is chosen and at what shares its bytes") {
  const TemporaryFolder dir;
  finish_b(dir);
  const auto verified = [&] {
    auto report = verify_content(sample().manifest, dir.path(), test::kOptions);
    REQUIRE(report.ok());
    return *std::move(report);
  };
  VerifyReport report = verified();
  CHECK(report.chosen == kOnlyB);
  CHECK(report.bad_files.empty());
  CHECK(report.good == content::wanted_generations(sample().info(), kOnlyB));
  CHECK_FALSE(report.unfinished);

  // A file of the user's that is not chosen does not stand for its bytes in the work folder.
  test::write_file(dir.path(path_of(kA)), std::vector<std::uint8_t>(7000, 1));
  CHECK(verified().good == report.good);
  fs::remove(dir.path(path_of(kA)));

  test::write_file(dir.path(work("data/a")), std::vector<std::uint8_t>(7000, 1));
  report = verified();
  CHECK(report.bad_files.empty());
  CHECK(report.good == Choice{false, false, false, false, true, false, false, false});
  CHECK(report.unfinished);

  fs::remove(dir.path(path_of(kB)));
  report = verified();
  REQUIRE(report.bad_files.size() == 1);
  CHECK(report.bad_files[0].path == dir.path(path_of(kB)));
  CHECK(report.unfinished);
}

TEST_CASE("an edited file that is not wanted any more is no fault of the choice") {
  const TemporaryFolder dir;
  const Download download(dir, choosing({}));
  download.write({5, 6, 7});
  REQUIRE(download.store->sync().ok());
  test::write_file(dir.path(path_of(kC)), std::vector<std::uint8_t>(6000, 7));
  CHECK_FALSE(download.store->lose_generation(5));
  REQUIRE(download.store->choose(kOnlyB).ok());
  download.write({3, 4});
  CHECK(download.finish());
  REQUIRE(download.store->choose(choice_of({kB, kC})).ok());
  const Result<bool> finished = download.store->finish();
  REQUIRE_FALSE(finished.ok());
  CHECK(finished.error().code == ErrorCode::kCorrupt);
}

TEST_CASE("bytes that were deleted in the work folder are fetched again, beside a finished file") {
  const TemporaryFolder dir;
  const Download download(dir, choosing(kOnlyB));
  download.write({3, 4});
  REQUIRE(download.finish());
  fs::remove(dir.path(work("data/a")));
  REQUIRE(download.store->sync().ok());
  CHECK(download.store->take_lost() == std::vector<std::uint32_t>{3});
  CHECK_FALSE(download.finish());
  download.write({3});
  CHECK(download.finish());
  download.check_served({3, 4});
  check_named(dir, {kB});
}

TEST_CASE("a named file that is not chosen any more may be deleted or edited") {
  for (const bool deleted : {true, false}) {
    CAPTURE(deleted);
    const TemporaryFolder dir;
    const Download download(dir, choosing(choice_of({kA, kB})));
    download.write({0, 1, 2, 3, 4});
    REQUIRE(download.finish());
    REQUIRE(download.store->choose(kOnlyA).ok());
    const std::string path = dir.path(path_of(kB));
    if (deleted) {
      fs::remove(path);
    } else {
      test::write_file(path, std::vector<std::uint8_t>(1500, 7));
    }
    CHECK(download.store->lose_generation(3));
    CHECK_FALSE(download.finish());
    download.write({3});
    CHECK(download.finish());
    download.check_served({0, 1, 2, 3});
    CHECK(fs::exists(path) == !deleted);

    // It has no name before all of it is there again, and never that of the user's.
    REQUIRE(download.store->choose(choice_of({kA, kB})).ok());
    CHECK_FALSE(download.finish());
    download.write({4});
    const Result<bool> finished = download.store->finish();
    CHECK(finished.ok() == deleted);
    CHECK((test::read_file(path) == sample().file(kB)) == deleted);
  }
}

TEST_CASE("a chosen file that was changed is not called complete, beside one not chosen any more") {
  const TemporaryFolder dir;
  const Download download(dir, choosing(choice_of({kA, kB})));
  download.write({0, 1, 2, 3, 4});
  REQUIRE(download.finish());
  REQUIRE(download.store->choose(kOnlyA).ok());
  std::vector<std::uint8_t> changed = sample().file(kA);
  changed[6500] ^= 1;
  test::write_file(dir.path(path_of(kA)), changed);
  CHECK(download.store->lose_generation(3));
  download.write({3});
  const Result<bool> finished = download.store->finish();
  REQUIRE_FALSE(finished.ok());
  CHECK(finished.error().code == ErrorCode::kCorrupt);
  CHECK(test::read_file(dir.path(path_of(kA))) == changed);
  CHECK_FALSE(download.store->lose_generation(3));
  // Until it is right again.
  test::write_file(dir.path(path_of(kA)), sample().file(kA));
  CHECK(download.finish());
  download.check_served({0, 1, 2, 3});
}

TEST_CASE("files are chosen while others write, sync and read") {
  const TemporaryFolder dir;
  const Download download(dir, choosing(kOnlyB));
  std::thread writer([&] {
    for (std::uint32_t g = 0; g < sample().count(); ++g)
      CHECK(download.store->write_generation(g, sample().generation(g)).ok());
  });
  std::thread syncer([&] {
    for (int i = 0; i < 20; ++i) CHECK(download.store->sync().ok());
  });
  for (int i = 0; i < 20; ++i) {
    CHECK(download.store->choose(i % 2 == 0 ? kOnlyA : choice_of({kB, kC})).ok());
    std::vector<std::uint8_t> out(sample().shape().padded_bytes(0));
    if (download.store->read_generation(0, out).ok()) CHECK(out == sample().generation(0));
  }
  writer.join();
  syncer.join();
  REQUIRE(download.store->choose({}).ok());
  CHECK(download.finish());
  check_named(dir, {kA, kB, kC, kEmpty, kLink, kFolder});
}

}  // namespace
}  // namespace firn::store::choice_test
