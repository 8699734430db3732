#include "client/store/content_store.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <filesystem>
#include <thread>

#include "client/store/open_files.h"
#include "client/store/posix_files.h"
#include "tests/store/sample_content.h"

namespace firn::store::content_store_test {
namespace {

namespace fs = std::filesystem;
using test::Sample;
using test::TemporaryFolder;

Sample folder_sample() {
  return test::make_sample("album",
                           {{"a/first.bin", 5000},
                            {"a/zero", 0},
                            {"b/\xc3\xa4\xc3\xb6 \xe6\x97\xa5\xe6\x9c\xac.txt", 1},
                            {"c/deep/er/big", 20'000},
                            {"empty", 0, true},
                            {"last", 333}},
                           4, 512);
}

std::unique_ptr<ContentStore> open_new(const Sample& sample, const std::string& dir) {
  Resumed resumed;
  auto store = ContentStore::open_download(sample.manifest, dir, test::kOptions, resumed);
  REQUIRE_MESSAGE(store.ok(), (store ? "" : store.error().message()));
  return *std::move(store);
}

void write_all(ContentStore& store, const Sample& sample) {
  for (std::uint32_t g = 0; g < sample.count(); ++g) {
    REQUIRE(store.write_generation(g, sample.generation(g)).ok());
  }
}

std::uint32_t mode_of(const std::string& path) {
  struct stat status;
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return status.st_mode & 07777;
}

std::int64_t modified_of(const std::string& path) {
  struct stat status;
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

TEST_CASE("a finished download has every file with its bytes, mode and time, and no work folder") {
  const Sample sample = folder_sample();
  const TemporaryFolder dir;
  const auto store = open_new(sample, dir.path("new/out"));
  write_all(*store, sample);
  REQUIRE(store->finish().ok());
  CHECK_FALSE(fs::exists(dir.path("new/out/.firn")));
  for (std::uint32_t i = 0; i < sample.info().files.size(); ++i) {
    const FileEntry& entry = sample.info().files[i];
    const std::string path = dir.path("new/out/album/" + entry.path);
    CAPTURE(path);
    if (entry.kind == FileEntry::Kind::kFile) CHECK(test::read_file(path) == sample.file(i));
    CHECK(mode_of(path) == entry.mode);
    CHECK(modified_of(path) == entry.modified_ns);
  }
  CHECK(fs::is_directory(dir.path("new/out/album/empty")));
}

TEST_CASE("a stranger's manifest makes no file writable for everybody") {
  Sample sample = test::make_sample("one.bin", {{"", 700}}, 4, 512);
  sample.manifest.info.files[0].mode = 0777;
  const TemporaryFolder dir;
  const auto store = open_new(sample, dir.path());
  write_all(*store, sample);
  REQUIRE(store->finish().ok());
  CHECK(mode_of(dir.path("one.bin")) == 0775);
}

TEST_CASE("a single file lands under the content's name") {
  const Sample sample = test::make_sample("one.bin", {{"", 12'345}}, 4, 512);
  const TemporaryFolder dir;
  const auto store = open_new(sample, dir.path());
  write_all(*store, sample);
  REQUIRE(store->finish().ok());
  CHECK(test::read_file(dir.path("one.bin")) == sample.bytes);
}

TEST_CASE("a content can stand under another name than its own, and is told of by that") {
  for (const bool single : {true, false}) {
    CAPTURE(single);
    const Sample sample = single ? test::make_sample("one.bin", {{"", 12'345}}, 4, 512)
                                 : test::make_sample("album", {{"d/a", 9000}, {"b", 700}}, 4, 512);
    const TemporaryFolder dir;
    test::write_file(dir.path(sample.info().name), {1});  // the name is taken
    OpenOptions options = test::kOptions;
    options.as = "other";
    Resumed resumed;
    auto store = ContentStore::open_download(sample.manifest, dir.path(), options, resumed);
    REQUIRE_MESSAGE(store.ok(), (store ? "" : store.error().message()));
    write_all(**store, sample);
    REQUIRE((*store)->finish().ok());
    CHECK(test::read_file(dir.path(sample.info().name)).size() == 1);
    CHECK_FALSE(fs::exists(dir.path(".firn")));
    const std::string first = single ? dir.path("other") : dir.path("other/d/a");
    CHECK(test::read_file(first) == sample.file(0));

    CHECK(ContentStore::open_complete(sample.manifest, dir.path(), options).ok());
    CHECK_FALSE(ContentStore::open_complete(sample.manifest, dir.path(), test::kOptions).ok());
    CHECK(verify_content(sample.manifest, dir.path(), options)->bad_files.empty());
    fs::remove(first);
    CHECK(verify_content(sample.manifest, dir.path(), options)->bad_files.at(0).path == first);
    const auto gone = ContentStore::open_complete(sample.manifest, dir.path(), options);
    CHECK(gone.error().message().find("serve " + dir.path("other")) != std::string::npos);
  }
}

TEST_CASE("a folder with nothing in it is made, and told from one that is not there") {
  const Sample sample = test::make_sample("bare", {}, 4, 512);
  const TemporaryFolder dir;
  const auto empty = verify_content(sample.manifest, dir.path(), {});
  REQUIRE(empty->bad_files.size() == 1);
  CHECK(empty->bad_files[0].path == dir.path("bare"));
  auto store = open_new(sample, dir.path());
  CHECK(fs::is_directory(dir.path("bare")));  // from the start, as every content's folder
  REQUIRE(store->finish().ok());
  CHECK(fs::is_directory(dir.path("bare")));
  CHECK_FALSE(fs::exists(dir.path(".firn")));
  CHECK(verify_content(sample.manifest, dir.path(), {})->bad_files.empty());
  store = open_new(sample, dir.path());
  CHECK_FALSE(fs::exists(dir.path(".firn")));
  CHECK(store->finish().ok());

  const TemporaryFolder taken;
  test::write_file(taken.path("bare"), {1});
  Resumed resumed;
  CHECK(ContentStore::open_download(sample.manifest, taken.path(), test::kOptions, resumed)
            .error()
            .code == ErrorCode::kExists);
}

TEST_CASE("contents around block and generation sizes come back exactly") {
  constexpr std::uint64_t kBlock = 512;
  constexpr std::uint64_t kGeneration = 4 * kBlock;
  for (const std::uint64_t bytes :
       {std::uint64_t{0}, std::uint64_t{1}, kBlock - 1, kBlock, kBlock + 1, kGeneration - 1,
        kGeneration, kGeneration + 1, 3 * kGeneration}) {
    CAPTURE(bytes);
    const Sample sample = test::make_sample("x", {{"", bytes}}, 4, kBlock);
    const TemporaryFolder dir;
    const auto store = open_new(sample, dir.path());
    write_all(*store, sample);
    for (std::uint32_t g = 0; g < sample.count(); ++g) {
      std::vector<std::uint8_t> out(sample.shape().padded_bytes(g), 0xee);
      REQUIRE(store->read_generation(g, out).ok());
      CHECK(out == sample.generation(g));
    }
    REQUIRE(store->finish().ok());
    CHECK(test::read_file(dir.path("x")) == sample.bytes);
  }
}

TEST_CASE("a file gets its final name at the sync after its last generation, not before") {
  const Sample sample = test::make_sample("f", {{"a", 4096}, {"b", 2048}, {"c", 2048}}, 4, 512);
  const TemporaryFolder dir;
  const auto store = open_new(sample, dir.path());
  REQUIRE(store->write_generation(0, sample.generation(0)).ok());
  REQUIRE(store->write_generation(3, sample.generation(3)).ok());
  CHECK_FALSE(fs::exists(dir.path("f/c")));
  REQUIRE(store->sync().ok());
  CHECK_FALSE(fs::exists(dir.path("f/a")));
  CHECK_FALSE(fs::exists(dir.path("f/b")));
  CHECK(test::read_file(dir.path("f/c")) == sample.file(2));
  REQUIRE(store->write_generation(1, sample.generation(1)).ok());
  REQUIRE(store->sync().ok());
  CHECK(test::read_file(dir.path("f/a")) == sample.file(0));
  CHECK(modified_of(dir.path("f/a")) == sample.info().files[0].modified_ns);
  CHECK_FALSE(fs::exists(dir.path("f/b")));
}

TEST_CASE("generations are read from wherever their files stand, also after the end") {
  const Sample sample = folder_sample();
  const TemporaryFolder dir;
  const auto store = open_new(sample, dir.path());
  std::vector<std::uint8_t> out(sample.shape().padded_bytes(0));
  CHECK(store->read_generation(0, out).error().code == ErrorCode::kNotFound);
  for (std::uint32_t g = 0; g < sample.count(); ++g) {
    REQUIRE(store->write_generation(g, sample.generation(g)).ok());
    if (g % 3 == 0) REQUIRE(store->sync().ok());
    for (std::uint32_t earlier = 0; earlier <= g; ++earlier) {
      out.resize(sample.shape().padded_bytes(earlier));
      REQUIRE(store->read_generation(earlier, out).ok());
      CHECK(out == sample.generation(earlier));
    }
  }
  REQUIRE(store->finish().ok());
  out.resize(sample.shape().padded_bytes(0));
  REQUIRE(store->read_generation(0, out).ok());
  CHECK(out == sample.generation(0));
  CHECK(store->finish().ok());
}

TEST_CASE("a file changed underneath is found when it is read, and named") {
  const Sample sample = folder_sample();
  const TemporaryFolder dir;
  const auto store = open_new(sample, dir.path());
  write_all(*store, sample);
  REQUIRE(store->finish().ok());
  std::vector<std::uint8_t> bytes = sample.file(3);
  bytes[10'000] ^= 1;
  test::write_file(dir.path("album/c/deep/er/big"), bytes);
  const auto changed = static_cast<std::uint32_t>((sample.info().files[3].offset + 10'000) /
                                                  sample.shape().generation_bytes());
  std::vector<std::uint8_t> out(sample.shape().padded_bytes(changed));
  const Status read = store->read_generation(changed, out);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().code == ErrorCode::kCorrupt);
  CHECK(read.error().message().find("album/c/deep/er/big") != std::string::npos);
  out.resize(sample.shape().padded_bytes(0));
  CHECK(store->read_generation(0, out).ok());

  fs::resize_file(dir.path("album/a/first.bin"), 100);
  out.resize(sample.shape().padded_bytes(1));
  CHECK(store->read_generation(1, out).error().code == ErrorCode::kCorrupt);
}

TEST_CASE("finishing before the end does nothing and keeps everything") {
  const Sample sample = folder_sample();
  const TemporaryFolder dir;
  const auto store = open_new(sample, dir.path());
  REQUIRE(store->write_generation(0, sample.generation(0)).ok());
  Result<bool> finished = store->finish();
  REQUIRE(finished.ok());
  CHECK_FALSE(*finished);
  for (std::uint32_t g = 1; g < sample.count(); ++g) {
    REQUIRE(store->write_generation(g, sample.generation(g)).ok());
  }
  finished = store->finish();
  REQUIRE(finished.ok());
  CHECK(*finished);
}

TEST_CASE("a second download of the same content into the same folder is refused while one runs") {
  const Sample sample = folder_sample();
  const TemporaryFolder dir;
  auto store = open_new(sample, dir.path());
  Resumed resumed;
  const auto second =
      ContentStore::open_download(sample.manifest, dir.path(), test::kOptions, resumed);
  REQUIRE_FALSE(second.ok());
  CHECK(second.error().code == ErrorCode::kExists);
  CHECK(second.error().message().find("another firn is downloading this content into " +
                                      dir.path()) != std::string::npos);
  // Another content may come into the same folder.
  const Sample other = test::make_sample("other", {{"", 5000}}, 4, 512, 9);
  const auto beside = open_new(other, dir.path());
  store.reset();
  open_new(sample, dir.path());
}

TEST_CASE("workers write generations and rows of one content at once") {
  const Sample sample = test::make_sample(
      "t", {{"a", 100'000}, {"b", 1}, {"c", 70'000}, {"d", 3000}, {"e", 90'000}}, 4, 512);
  const TemporaryFolder dir;
  const auto store = open_new(sample, dir.path());
  std::vector<std::thread> workers;
  for (std::uint32_t worker = 0; worker < 4; ++worker) {
    workers.emplace_back([&, worker] {
      std::vector<std::uint8_t> payload(512);
      for (std::uint32_t g = worker; g < sample.count(); g += 4) {
        for (std::uint32_t slot = 0; slot < sample.shape().blocks_in(g); ++slot) {
          const auto [row, bytes] = test::sample_row(sample, g, slot);
          FIRN_CHECK(store->write_row(row, bytes).ok());
          FIRN_CHECK(store->read_row(g, slot, payload).ok() && payload == bytes);
        }
        FIRN_CHECK(store->write_generation(g, sample.generation(g)).ok());
        FIRN_CHECK(store->drop_rows(g).ok());
        if (g % 16 == 0) FIRN_CHECK(store->sync().ok());
      }
    });
  }
  for (std::thread& worker : workers) worker.join();
  REQUIRE(store->finish().ok());
  for (std::uint32_t i = 0; i < sample.info().files.size(); ++i) {
    CHECK(test::read_file(dir.path("t/" + sample.info().files[i].path)) == sample.file(i));
  }
}

TEST_CASE("a thousand small files need few descriptors") {
  std::vector<test::SampleFile> files;
  for (int i = 0; i < 1000; ++i) {
    std::string path = "d";
    path.append(std::to_string(i % 7)).append("/f").append(std::to_string(i));
    files.push_back({path, 64});
  }
  const Sample sample = test::make_sample("many", files, 4, 512);
  const TemporaryFolder dir;
  const auto store = open_new(sample, dir.path());
  write_all(*store, sample);
  const auto descriptors = std::distance(fs::directory_iterator("/proc/self/fd"), {});
  CHECK(descriptors < 100);
  REQUIRE(store->finish().ok());
  CHECK(test::read_file(dir.path("many/d3/f500")) == sample.file(500));
}

std::size_t open_descriptors() {
  const auto all = std::distance(fs::directory_iterator("/proc/self/fd"), {});
  return static_cast<std::size_t>(all) - 1;  // the one that counts
}

TEST_CASE("contents that share their open files keep the few that were used last") {
  constexpr std::size_t kContents = 10, kFilesMax = 4;
  std::vector<Sample> samples;
  const TemporaryFolder dir;
  for (std::size_t c = 0; c < kContents; ++c) {
    std::vector<test::SampleFile> files;
    for (int i = 0; i < 5; ++i) files.push_back({std::string("f").append(std::to_string(i)), 3000});
    samples.push_back(test::make_sample("c" + std::to_string(c), files, 4, 512, c));
    const auto store = open_new(samples.back(), dir.path());
    write_all(*store, samples.back());
    REQUIRE(store->finish().ok());
  }
  OpenOptions options = test::kOptions;
  options.trust = true;
  struct Bound {  // the other tests have the usual one
    explicit Bound(std::size_t files_max) { OpenFiles::of_process().set_files_max(files_max); }
    ~Bound() { OpenFiles::of_process().set_files_max(OpenFiles::kFilesMaxUsual); }
  } const bound(kFilesMax);
  const std::size_t before = open_descriptors();
  std::vector<std::unique_ptr<ContentStore>> stores;
  for (const Sample& sample : samples)
    stores.push_back(ContentStore::open_complete(sample.manifest, dir.path(), options).value());
  CHECK(open_descriptors() <= before + kFilesMax);
  for (int round = 0; round < 2; ++round) {
    for (std::size_t c = 0; c < kContents; ++c) {
      for (std::uint32_t g = 0; g < samples[c].count(); ++g) {
        std::vector<std::uint8_t> read(samples[c].shape().padded_bytes(g));
        REQUIRE(stores[c]->read_generation(g, read).ok());
        CHECK(read == samples[c].generation(g));
        CHECK(open_descriptors() <= before + kFilesMax * OpenFiles::kDescriptorsOfFile);
      }
    }
  }
  stores.clear();
  CHECK(open_descriptors() == before);
}

TEST_CASE("a download that is complete holds no descriptor of its folders") {
  const Sample sample = test::make_sample("t", {{"a", 3000}}, 4, 512);
  const TemporaryFolder dir;
  const std::size_t before = open_descriptors();
  const auto store = open_new(sample, dir.path());
  CHECK(open_descriptors() == before + kDescriptorsOfDownload);
  write_all(*store, sample);
  REQUIRE(store->finish().ok());
  CHECK(open_descriptors() == before);
  std::vector<std::uint8_t> read(sample.shape().padded_bytes(0));
  REQUIRE(store->read_generation(0, read).ok());
  CHECK(read == sample.generation(0));
}

TEST_CASE("of open files the one used longest ago is closed first, whosever it is") {
  const TemporaryFolder dir;
  const auto files = open_posix_files(dir.path(), false).value();
  const auto make = [&](const std::string& name) {
    return files->open(name, Files::Open::kCreate).value();
  };
  OpenFiles open;
  open.set_files_max(2);
  const int one = 0, other = 0;
  open.keep(&one, 7, make("a"), false);
  open.keep(&other, 7, make("b"), true);
  CHECK(open.find(&one, 7, false) != nullptr);  // used again
  CHECK(open.find(&one, 7, true) == nullptr);   // it cannot be written
  open.keep(&one, 8, make("c"), false);
  CHECK(open.find(&other, 7, false) == nullptr);
  CHECK(open.find(&one, 7, false) != nullptr);
  open.forget(&one);
  CHECK(open.find(&one, 7, false) == nullptr);
  CHECK(open.find(&one, 8, false) == nullptr);
}

}  // namespace
}  // namespace firn::store::content_store_test
