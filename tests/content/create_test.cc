#include "client/content/create.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <random>
#include <set>

#include "client/content/division.h"
#include "client/content/file_time.h"
#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/base/plain_text.h"

namespace firn::content {
namespace {

namespace fs = std::filesystem;

class TemporaryFolder {
 public:
  TemporaryFolder() {
    path_ = (fs::temp_directory_path() / "firn-create-XXXXXX").string();
    FIRN_CHECK(::mkdtemp(path_.data()) != nullptr);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  std::string path(const std::string& below) const { return path_ + "/" + below; }

 private:
  std::string path_;
};

std::string random_bytes(std::size_t bytes, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::string text(bytes, '\0');
  for (char& c : text) c = static_cast<char>(random());
  return text;
}

void write(const std::string& path, const std::string& bytes) {
  fs::create_directories(fs::path(path).parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

Manifest created(const std::string& path, const CreateOptions& options = {}) {
  Result<Manifest> manifest = create_manifest(path, options);
  REQUIRE_MESSAGE(manifest.ok(), (manifest ? "" : manifest.error().message()));
  return *std::move(manifest);
}

Error refused(const std::string& path, const CreateOptions& options = {}) {
  const Result<Manifest> manifest = create_manifest(path, options);
  REQUIRE_FALSE(manifest.ok());
  CHECK(manifest.error().message().find(escaped(path.substr(0, path.find_last_not_of('/') + 1))) !=
        std::string::npos);
  return manifest.error();
}

std::span<const std::uint8_t> bytes_of(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

// Digests over the content as one string, by position: the obvious way.
std::vector<Digest> digests_of(std::string content, const Shape& shape) {
  std::vector<Digest> digests;
  content.resize(shape.generation_count() * shape.generation_bytes());
  for (std::uint32_t g = 0; g < shape.generation_count(); ++g) {
    const auto data = bytes_of(content).subspan(g * shape.generation_bytes());
    digests.push_back(generation_digest(data.first(shape.padded_bytes(g)), shape.block_bytes));
  }
  return digests;
}

std::int64_t modified_of(const std::string& path) {
  struct stat status;
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

TEST_CASE("a folder's files are taken in byte order with modes, times and empty folders") {
  const TemporaryFolder dir;
  const std::string utf8 = "\xc3\xa4/\xe6\x97\xa5\xe6\x9c\xac";
  write(dir.path("top/b"), "bb");
  write(dir.path("top/a/z"), "zzz");
  write(dir.path("top/a-b"), "-");
  write(dir.path("top/B"), "");
  write(dir.path("top/" + utf8), "utf");
  fs::create_directories(dir.path("top/empty/inner"));
  REQUIRE(::chmod(dir.path("top/b").c_str(), 0751) == 0);
  REQUIRE(::chmod(dir.path("top/empty/inner").c_str(), 0700) == 0);
  const timespec times[2] = {{1, 0}, {1'234'567'890, 987'654'321}};
  REQUIRE(::utimensat(AT_FDCWD, dir.path("top/b").c_str(), times, 0) == 0);

  const Manifest manifest = created(dir.path("top"));
  CHECK(manifest.info.name == "top");
  CHECK_FALSE(manifest.info.single_file);
  const auto& files = manifest.info.files;
  REQUIRE(files.size() == 6);
  const std::string paths[] = {"B", "a-b", "a/z", "b", "empty/inner", utf8};
  for (std::size_t i = 0; i < files.size(); ++i) {
    CHECK(files[i].path == paths[i]);
    CHECK(files[i].modified_ns == modified_of(dir.path("top/" + paths[i])));
    CHECK((files[i].kind == FileEntry::Kind::kFolder) == (i == 4));
  }
  CHECK(files[3].mode == 0751);
  CHECK(files[3].modified_ns == 1'234'567'890'987'654'321);
  CHECK(files[4].mode == 0700);
  CHECK(manifest.info.shape.content_bytes == 9);
  CHECK(manifest.info.generation_digests == digests_of("-zzzbbutf", manifest.info.shape));
  const std::string contents[] = {"", "-", "zzz", "bb", "", "utf"};
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (i != 4) CHECK(files[i].digest == sha256(bytes_of(contents[i])));
  }
}

TEST_CASE("folders with files have an entry unless their mode is 0755, which changes the id") {
  const TemporaryFolder dir;
  for (const char* name : {"top/private/plan", "top/private/deep/x", "top/group/y", "top/a/z"})
    write(dir.path(name), name);
  fs::create_directories(dir.path("top/empty"));
  const auto set_mode = [&](const std::string& name, mode_t mode) {
    REQUIRE(::chmod(dir.path(name).c_str(), mode) == 0);
  };
  for (const char* name : {"top", "top/private", "top/private/deep", "top/group", "top/a"})
    set_mode(name, 0755);
  set_mode("top/empty", 0700);
  const timespec times[2] = {{1, 0}, {1'234'567'890, 987'654'321}};
  const std::string closed = dir.path("top/private");
  REQUIRE(::utimensat(AT_FDCWD, closed.c_str(), times, 0) == 0);
  const Manifest plain = created(dir.path("top"));
  CHECK(plain.info.folders.empty());
  set_mode("top/a", 02755);
  CHECK(created(dir.path("top")).id == plain.id);

  set_mode("top/private", 0700);
  set_mode("top/private/deep", 0555);
  set_mode("top/group", 02775);
  set_mode("top", 0750);
  const Manifest manifest = created(dir.path("top"));
  CHECK(manifest.id != plain.id);
  const std::pair<const char*, std::uint32_t> expected[] = {
      {"", 0750}, {"group", 0775}, {"private", 0700}, {"private/deep", 0555}};
  REQUIRE(manifest.info.folders.size() == std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    CHECK(manifest.info.folders[i].path == expected[i].first);
    CHECK(manifest.info.folders[i].mode == expected[i].second);
  }
  CHECK(manifest.info.folders[2].modified_ns == 1'234'567'890'987'654'321);
}

TEST_CASE("times that a manifest cannot hold become the nearest that it can, and are named") {
  CHECK(nanoseconds_of({9'223'372'037, 0}) == std::numeric_limits<std::int64_t>::max());
  CHECK(nanoseconds_of({-9'223'372'038, 999'999'999}) == std::numeric_limits<std::int64_t>::min());
  for (const std::int64_t time :
       {std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max(),
        std::int64_t{-1'000'000'000}, std::int64_t{-1}, std::int64_t{0}, std::int64_t{1}}) {
    CAPTURE(time);
    CHECK(holds_time(to_timespec(time)));
    CHECK(nanoseconds_of(to_timespec(time)) == time);
  }
  const TemporaryFolder dir;
  write(dir.path("top/late"), "late");
  write(dir.path("top/now"), "now");
  const timespec times[2] = {{1, 0}, {10'000'000'000, 0}};
  const std::string late = dir.path("top/late");
  REQUIRE(::utimensat(AT_FDCWD, late.c_str(), times, 0) == 0);
  struct stat kept;
  REQUIRE(::stat(late.c_str(), &kept) == 0);
  if (kept.st_mtim.tv_sec != times[1].tv_sec) {
    MESSAGE("the file system of temporary files has no such time: not tested");
    return;
  }
  std::vector<std::string> named;
  CreateOptions options;
  options.scanned = [&](const Scan& scan) { named = scan.odd_times; };
  const Manifest manifest = created(dir.path("top"), options);
  CHECK(named == std::vector{late});
  CHECK(manifest.info.files[0].modified_ns == std::numeric_limits<std::int64_t>::max());
}

TEST_CASE("files have their own digests, however generations cut and threads share them") {
  const TemporaryFolder dir;
  CreateOptions options;
  options.generation_size = 4;
  options.block_bytes = 100;
  const std::size_t sizes[] = {0, 1, 399, 400, 401, 3000, 12'345, 7, 801};
  for (const std::size_t bytes : sizes) {
    write(dir.path("t/" + std::to_string(bytes)), random_bytes(bytes, bytes));
  }
  for (const unsigned threads : {1u, 2u, 5u}) {
    options.threads = threads;
    const Info info = created(dir.path("t"), options).info;
    REQUIRE(info.files.size() == std::size(sizes));
    for (const FileEntry& file : info.files) {
      CAPTURE(file.path);
      CHECK(file.digest == sha256(bytes_of(random_bytes(file.bytes, file.bytes))));
      if (file.bytes >= 400) CHECK(file.offset % 400 == 0);
    }
  }
}

TEST_CASE("sizes around blocks and generations hash as the content's bytes do") {
  const TemporaryFolder dir;
  CreateOptions options;
  options.generation_size = 4;
  options.block_bytes = 1000;
  for (const std::size_t bytes : {0, 1, 999, 1000, 1001, 3999, 4000, 4001, 20'000}) {
    CAPTURE(bytes);
    const std::string content = random_bytes(bytes, bytes);
    write(dir.path("file"), content);
    const Manifest manifest = created(dir.path("file"), options);
    CHECK(manifest.info.single_file);
    CHECK(manifest.info.name == "file");
    REQUIRE(manifest.info.files.size() == 1);
    CHECK(manifest.info.files[0].path.empty());
    CHECK(manifest.info.generation_digests == digests_of(content, manifest.info.shape));
  }
}

TEST_CASE("the number of threads does not change the manifest") {
  const TemporaryFolder dir;
  for (int i = 0; i < 30; ++i) {
    std::string name = "t/f";
    write(dir.path(name.append(std::to_string(i))), random_bytes(1000 * i, i));
  }
  CreateOptions options;
  options.generation_size = 8;
  options.block_bytes = 700;
  options.threads = 1;
  const Manifest one = created(dir.path("t"), options);
  for (const unsigned threads : {0u, 2u, 7u}) {
    options.threads = threads;
    CHECK(created(dir.path("t"), options).id == one.id);
  }
}

TEST_CASE("a folder that holds nothing is a content without bytes") {
  const TemporaryFolder dir;
  fs::create_directories(dir.path("nothing"));
  const Manifest manifest = created(dir.path("nothing"));
  CHECK(manifest.info.files.empty());
  CHECK(manifest.info.shape.generation_count() == 0);
}

TEST_CASE("trailing slashes do not change the name; paths without one are refused") {
  const TemporaryFolder dir;
  write(dir.path("top/f"), "x");
  CHECK(created(dir.path("top//")).info.name == "top");
  for (const std::string path : {".", "..", "/", "", "//"}) {
    CAPTURE(path);
    const Result<Manifest> manifest = create_manifest(path, {});
    REQUIRE_FALSE(manifest.ok());
    CHECK(manifest.error().code == ErrorCode::kBadInput);
  }
  CHECK(refused(dir.path("top/.")).code == ErrorCode::kBadInput);
  CHECK(refused(dir.path("missing")).code == ErrorCode::kNotFound);
}

TEST_CASE("symbolic links are refused by name, wherever they point") {
  const TemporaryFolder dir;
  write(dir.path("top/f"), "x");
  fs::create_symlink("f", dir.path("top/link"));
  CHECK(refused(dir.path("top")).message().find(dir.path("top/link")) != std::string::npos);
  fs::create_symlink("top/f", dir.path("outer"));
  CHECK(refused(dir.path("outer")).code == ErrorCode::kBadInput);
  fs::remove(dir.path("top/link"));
  fs::create_directory_symlink("/", dir.path("top/root"));
  CHECK(refused(dir.path("top")).message().find("top/root") != std::string::npos);
}

TEST_CASE("a link that no option keeps is told apart at once, and how to leave it out") {
  const TemporaryFolder dir;
  write(dir.path("top/f"), "x");
  fs::create_symlink("f", dir.path("top/in"));
  fs::create_symlink("/etc/passwd", dir.path("top/out"));
  const std::string text = refused(dir.path("top")).message();
  CHECK(text.find("top/in: is a symbolic link (--symlinks keep or skip)") != std::string::npos);
  CHECK(text.find("it is absolute (--symlinks skip, or --exclude it)") != std::string::npos);
}

TEST_CASE("links are left out, or kept if they lead nowhere else, as one wishes") {
  const TemporaryFolder dir;
  write(dir.path("top/a/f"), "x");
  fs::create_symlink("a/f", dir.path("top/link"));
  fs::create_symlink("../a", dir.path("top/a/up"));
  CreateOptions options;
  std::vector<std::string> skipped;
  options.scanned = [&](const Scan& scan) { skipped = scan.skipped; };
  options.scan.links = ScanOptions::Links::kSkip;
  CHECK(created(dir.path("top"), options).info.files.size() == 1);
  REQUIRE(skipped.size() == 2);

  options.scan.links = ScanOptions::Links::kKeep;
  const Info info = created(dir.path("top"), options).info;
  REQUIRE(info.files.size() == 3);
  CHECK(info.files[1].path == "a/up");
  CHECK(info.files[1].kind == FileEntry::Kind::kLink);
  CHECK(info.files[1].target == "../a");
  CHECK(info.files[2].target == "a/f");

  fs::create_symlink("/etc/passwd", dir.path("top/out"));
  fs::create_symlink("../../x", dir.path("top/a/out"));
  const Error error = refused(dir.path("top"), options);
  CHECK(error.message().find("top/out") != std::string::npos);
  CHECK(error.message().find("top/a/out") != std::string::npos);
}

TEST_CASE("everything that cannot be shared is named at once") {
  const TemporaryFolder dir;
  write(dir.path("top/good"), "x");
  write(dir.path("top/CON"), "x");
  write(dir.path("top/sub/a:b"), "x");
  fs::create_symlink("good", dir.path("top/link"));
  REQUIRE(::mkfifo(dir.path("top/pipe").c_str(), 0600) == 0);
  const std::string told = refused(dir.path("top")).message();
  for (const char* name : {"top/CON", "top/sub/a:b", "top/link", "top/pipe", "4 things"}) {
    CAPTURE(told);
    CHECK(told.find(name) != std::string::npos);
  }
  CreateOptions options;
  options.scan.links = ScanOptions::Links::kSkip;
  options.scan.skip_bad_names = true;
  options.scan.excludes = {"pipe"};
  CHECK(created(dir.path("top"), options).info.files.size() == 2);  // "sub" is empty now
}

TEST_CASE("what matches a pattern is left out, with all that is below it") {
  const TemporaryFolder dir;
  for (const char* path :
       {"a.tmp", "a.txt", "build/x.o", "build/y.c", "src/build/z.o", "src/a.tmp"})
    write(dir.path(std::string("top/") + path), "x");
  const auto paths = [&](std::vector<std::string> excludes) {
    CreateOptions options;
    options.scan.excludes = std::move(excludes);
    std::string text;
    for (const FileEntry& file : created(dir.path("top"), options).info.files)
      text += file.path + " ";
    return text;
  };
  CHECK(paths({"*.tmp"}) == "a.txt build/x.o build/y.c src/build/z.o ");
  CHECK(paths({"build"}) == "a.tmp a.txt src/a.tmp ");
  CHECK(paths({"/build"}) == "a.tmp a.txt src/a.tmp src/build/z.o ");
  CHECK(paths({"build/*.o"}) == "a.tmp a.txt build/y.c src/a.tmp src/build ");
  for (const char* from_the_top : {"/build/*.o", "./build/*.o", "top/build/*.o"})
    CHECK(paths({from_the_top}) == "a.tmp a.txt build/y.c src/a.tmp src/build/z.o ");
  CHECK(paths({"src/build/"}) == "a.tmp a.txt build/x.o build/y.c src/a.tmp ");
  CHECK(paths({"*/"}) == "a.tmp a.txt ");
  CHECK(paths({"a.*", "*.o", "*.c"}) == "build src/build ");
  CHECK(paths({"a.txt/"}).find("a.txt") != std::string::npos);  // no folder
}

TEST_CASE("patterns that left something out are told from those that did not") {
  const TemporaryFolder dir;
  for (const char* path : {"a.tmp", "build/x.o", "[a"})
    write(dir.path(std::string("top/") + path), "x");
  CreateOptions options;
  options.scan.excludes = {"*.tmp", "a*", "*.o", "build", "*.c", "[a", "/x.o"};
  std::set<std::string> used;
  options.scanned = [&](const Scan& scan) { used = scan.excludes_used; };
  (void)created(dir.path("top"), options);
  // What is in a folder that is left out is not looked at.
  CHECK(used == std::set<std::string>{"*.tmp", "a*", "build", "[a"});
}

TEST_CASE("what is no file and what has no portable name is refused by name") {
  const TemporaryFolder dir;
  write(dir.path("top/f"), "x");
  REQUIRE(::mkfifo(dir.path("top/pipe").c_str(), 0600) == 0);
  CHECK(refused(dir.path("top")).message().find("top/pipe") != std::string::npos);
  fs::remove(dir.path("top/pipe"));
  for (const std::string name : {"CON", "a:b", "trailing.", "back\\slash", "bad\xff"}) {
    CAPTURE(name);
    write(dir.path("top/" + name), "x");
    CHECK(refused(dir.path("top")).message().find(escaped(name)) != std::string::npos);
    CHECK(refused(dir.path("top/" + name)).code == ErrorCode::kBadInput);
    fs::remove(dir.path("top/" + name));
  }
  CHECK(create_manifest(dir.path("top"), {}).ok());
}

TEST_CASE("a file that has bytes and no size is no empty file") {
  const Error error = refused("/proc/version");
  CHECK(error.code == ErrorCode::kUnsupported);
  CHECK(error.message().find("copy it") != std::string::npos);
}

TEST_CASE("a folder that is too deep is refused by name, and can be left out") {
  const TemporaryFolder dir;
  std::string below;
  for (std::size_t i = 1; i < limits::kPathComponentsMax; ++i) below += "d/";
  write(dir.path("top/" + below + "f"), "x");
  CHECK(created(dir.path("top")).info.files.size() == 1);
  write(dir.path("top/" + below + "d/f"), "x");
  CHECK(refused(dir.path("top")).message().find(below + "d/f") != std::string::npos);
  CreateOptions options;
  options.scan.skip_bad_names = true;
  CHECK(created(dir.path("top"), options).info.files.size() == 2);  // the last "d" is empty now
}

TEST_CASE("a file that may not be read gives an error with its path") {
  if (::geteuid() == 0) return;  // root may read everything
  const TemporaryFolder dir;
  write(dir.path("top/secret"), "x");
  REQUIRE(::chmod(dir.path("top/secret").c_str(), 0) == 0);
  const Error error = refused(dir.path("top"));
  CHECK(error.code == ErrorCode::kReadOnly);
  CHECK(error.message().find("top/secret") != std::string::npos);
}

TEST_CASE("a file that changes while it is read is found") {
  const TemporaryFolder dir;
  const std::string path = dir.path("file");
  for (const bool same_size : {true, false}) {
    write(path, random_bytes(100'000, 1));
    CreateOptions options;
    options.generation_size = 4;
    options.block_bytes = 1000;
    options.threads = 1;
    bool touched = false;
    options.progress = [&](std::uint64_t done, std::uint64_t total) {
      if (touched || done == total) return;
      touched = true;
      if (same_size) {
        std::fstream(path, std::ios::in | std::ios::out | std::ios::binary).seekp(50'000) << "new";
        const timespec times[2] = {{1, 0}, {12'345, 0}};
        REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, 0) == 0);
      } else {
        fs::resize_file(path, 5000);
      }
    };
    CHECK(refused(path, options).code == ErrorCode::kCorrupt);
    CHECK(touched);
  }
}

TEST_CASE("progress reaches the total, and a wish to stop is followed") {
  const TemporaryFolder dir;
  write(dir.path("file"), random_bytes(100'000, 1));
  CreateOptions options;
  options.generation_size = 4;
  options.block_bytes = 1000;
  std::uint64_t last = 0;
  options.progress = [&](std::uint64_t done, std::uint64_t total) {
    CHECK(done >= last);
    CHECK(total == 100'000);
    last = done;
  };
  created(dir.path("file"), options);
  CHECK(last == 100'000);
  options.progress = {};
  options.threads = 1;  // the caller asks: workers might have done all before it asks again
  int polls = 0;
  options.cancelled = [&] { return ++polls >= 3; };
  CHECK(create_manifest(dir.path("file"), options).error().code == ErrorCode::kCancelled);
}

TEST_CASE("a sparse file of more than 4 GiB is taken whole") {
  const TemporaryFolder dir;
  const std::uint64_t bytes = (std::uint64_t{41} << 30) / 10;
  write(dir.path("large"), "begin");
  fs::resize_file(dir.path("large"), bytes - 3);
  std::ofstream(dir.path("large"), std::ios::binary | std::ios::app) << "end";
  const Manifest manifest = created(dir.path("large"));
  const Shape& shape = manifest.info.shape;
  CHECK(shape.content_bytes == bytes);
  CHECK(manifest.info.generation_digests.size() == shape.generation_count());

  std::vector<std::uint8_t> generation(shape.generation_bytes());
  CHECK(manifest.info.generation_digests[4000] == generation_digest(generation, shape.block_bytes));
  const std::uint64_t last = shape.bytes_in_generation(shape.generation_count() - 1);
  const std::string end = "end";
  std::copy(end.begin(), end.end(), generation.begin() + static_cast<std::ptrdiff_t>(last - 3));
  const auto whole = std::span<const std::uint8_t>(generation)
                         .first(shape.padded_bytes(shape.generation_count() - 1));
  CHECK(manifest.info.generation_digests.back() == generation_digest(whole, shape.block_bytes));
}

}  // namespace
}  // namespace firn::content
