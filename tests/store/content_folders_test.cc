#include "client/store/content_folders.h"

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "client/store/content_store.h"
#include "tests/store/sample_content.h"

namespace firn::store::content_folders_test {
namespace {

namespace fs = std::filesystem;
using test::Sample;
using test::TemporaryFolder;

class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }
  Umask(const Umask&) = delete;
  Umask& operator=(const Umask&) = delete;

 private:
  const mode_t before_;
};

std::uint32_t mode_of(const std::string& path) {
  struct stat status;
  REQUIRE_MESSAGE(::lstat(path.c_str(), &status) == 0, path);
  return status.st_mode & 07777;
}

std::int64_t modified_of(const std::string& path) {
  struct stat status;
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  return std::int64_t{status.st_mtim.tv_sec} * 1'000'000'000 + status.st_mtim.tv_nsec;
}

// c/a/b/{f,g}, c/a/empty, c/z/f
Sample sample_of(std::vector<FolderEntry> folders, std::uint32_t mode_of_empty = 0755) {
  Sample sample = test::make_sample(
      "c", {{"a/b/f", 9000}, {"a/b/g", 700}, {"a/empty", 0, true}, {"z/f", 300}}, 4, 500);
  sample.manifest.info.folders = std::move(folders);
  sample.manifest.info.files[2].mode = mode_of_empty;
  return sample;
}

std::unique_ptr<ContentStore> opened(const Sample& sample, const std::string& dir,
                                     bool repair = false) {
  OpenOptions options = test::kOptions;
  options.repair = repair;
  Resumed resumed;
  auto store = ContentStore::open_download(sample.manifest, dir, options, resumed);
  REQUIRE_MESSAGE(store.ok(), (store ? "" : store.error().message()));
  return *std::move(store);
}

void receive(const Sample& sample, const std::string& dir, bool repair = false) {
  const auto store = opened(sample, dir, repair);
  for (std::uint32_t g = 0; g < sample.count(); ++g)
    REQUIRE(store->write_generation(g, sample.generation(g)).ok());
  const auto finished = store->finish();
  REQUIRE_MESSAGE(finished.ok(), (finished ? "" : finished.error().message()));
}

TEST_CASE("folders get what the sender's mode allows and the umask leaves, and their owner all") {
  constexpr std::uint32_t kModes[] = {0700, 0750, 0755, 0555, 0000, 0711, 0775, 0777};
  constexpr mode_t kMasks[] = {0, 022, 027, 077};
  std::mt19937_64 random(4);
  const auto any = [&] { return kModes[random() % std::size(kModes)]; };
  for (int round = 0; round < 24; ++round) {
    const std::uint32_t top = any(), a = any(), b = any(), empty = any();
    const mode_t mask = kMasks[random() % std::size(kMasks)];
    const bool group_bit = random() % 2 == 0;
    CAPTURE(round);
    const Sample sample = sample_of({{"", top, 1}, {"a", a, 2}, {"a/b", b, 3}}, empty);
    const TemporaryFolder dir;
    REQUIRE(::chmod(dir.path().c_str(), group_bit ? 02755 : 0755) == 0);
    const Umask umask(mask);
    REQUIRE(::mkdir(dir.path("plain").c_str(), 0777) == 0);
    const std::uint32_t bits = mode_of(dir.path("plain")) & 07000;
    receive(sample, dir.path());
    const auto expected = [&](std::uint32_t mode) {
      return (((mode & 0775) | 0700) & ~mask) | bits;
    };
    CHECK(mode_of(dir.path("c")) == expected(top));
    CHECK(mode_of(dir.path("c/a")) == expected(a));
    CHECK(mode_of(dir.path("c/a/b")) == expected(b));
    CHECK(mode_of(dir.path("c/a/empty")) == expected(empty));
    CHECK(mode_of(dir.path("c/z")) == expected(0755));
  }
}

TEST_CASE("a default ACL holds for all folders, in place of the umask") {
  // acl(5): the owner all, the group all, others nothing.
  const unsigned char acl[] = {2,    0,    0, 0, 1,    0,    7,    0,    0xff, 0xff,
                               0xff, 0xff, 4, 0, 7,    0,    0xff, 0xff, 0xff, 0xff,
                               0x20, 0,    0, 0, 0xff, 0xff, 0xff, 0xff};
  const char* const name = "system.posix_acl_default";
  const TemporaryFolder dir;
  if (::setxattr(dir.path().c_str(), name, acl, sizeof acl, 0) != 0) {
    MESSAGE("the file system of temporary files has no ACLs: not tested");
    return;
  }
  const Umask umask(077);
  receive(sample_of({{"a", 0700, 2}, {"a/b", 0777, 3}}, 0775), dir.path());
  const std::pair<const char*, std::uint32_t> expected[] = {
      {"c", 0750}, {"c/z", 0750}, {"c/a", 0700}, {"c/a/b", 0770}, {"c/a/empty", 0770}};
  for (const auto& folder : expected) {
    const auto path = dir.path(folder.first);
    CAPTURE(path);
    CHECK(mode_of(path) == folder.second);
    CHECK(::getxattr(path.c_str(), name, nullptr, 0) == sizeof acl);
  }
}

TEST_CASE("folders have the times of the manifest once all is in them") {
  const Sample sample =
      sample_of({{"", 0700, -5}, {"a", 0750, 1'234'567'890'123'456'789}, {"a/b", 0711, 86'400}});
  const TemporaryFolder dir;
  receive(sample, dir.path());
  CHECK(modified_of(dir.path("c")) == -5);
  CHECK(modified_of(dir.path("c/a")) == 1'234'567'890'123'456'789);
  CHECK(modified_of(dir.path("c/a/b")) == 86'400);
  CHECK(modified_of(dir.path("c/a/empty")) == sample.info().files[2].modified_ns);
}

TEST_CASE("nobody else may look into a closed folder at any time of a download") {
  const Umask umask(022);
  const Sample sample = sample_of({{"", 0700, 1}, {"a", 0700, 1}, {"a/b", 0710, 1}}, 0700);
  const TemporaryFolder dir;
  const auto store = opened(sample, dir.path());
  const auto check = [&] {
    std::size_t folders = 0;
    for (const auto& entry : fs::recursive_directory_iterator(dir.path())) {
      const std::string name = entry.path().filename();
      if (!entry.is_directory() || (name != "a" && name != "b" && name != "c")) continue;
      if (entry.path().parent_path().filename() == "names") continue;  // it holds a lock
      CAPTURE(entry.path().string());
      CHECK(mode_of(entry.path()) == (name == "b" ? 0710 : 0700));
      ++folders;
    }
    return folders;
  };
  CHECK(check() == 3);  // a and b of the work folder, and c
  CHECK(mode_of(dir.path(".firn/" + sample.manifest.id.text() + "/data")) == 0700);
  for (std::uint32_t g = 0; g < 5; ++g)
    REQUIRE(store->write_generation(g, sample.generation(g)).ok());
  REQUIRE(store->sync().ok());
  REQUIRE(fs::exists(dir.path("c/a/b/f")));
  CHECK(check() == 5);
}

TEST_CASE("a repair leaves the modes of folders that stand, and makes others with theirs") {
  const Umask umask(022);
  const Sample sample = sample_of({{"", 0700, 7}, {"a", 0700, 8}, {"a/b", 0700, 9}});
  const TemporaryFolder dir;
  receive(sample, dir.path());
  REQUIRE(::chmod(dir.path("c/a").c_str(), 0770) == 0);
  fs::remove_all(dir.path("c/a/b"));
  receive(sample, dir.path(), true);
  CHECK(mode_of(dir.path("c/a")) == 0770);
  CHECK(mode_of(dir.path("c/a/b")) == 0700);
  CHECK(modified_of(dir.path("c/a")) == 8);
}

TEST_CASE("a content without files has its folder's mode and time") {
  Sample sample = test::make_sample("c", {}, 4, 500);
  sample.manifest.info.folders = {{"", 0700, 42}};
  const TemporaryFolder dir;
  receive(sample, dir.path());
  CHECK(mode_of(dir.path("c")) == 0700);
  CHECK(modified_of(dir.path("c")) == 42);
}

}  // namespace
}  // namespace firn::store::content_folders_test
