#include <doctest/doctest.h>

#include <limits>
#include <string>
#include <vector>

#include "proto/content/manifest.h"
#include "tests/proto/sample_manifest.h"

namespace firn::test::manifest_folders_test {
namespace {

bool has(const Error& error, const char* part) {
  return error.detail.find(part) != std::string::npos;
}

// sample_info() with entries for its folders.
Info with_folders(std::vector<FolderEntry> folders) {
  Info info = sample_info();
  info.folders = std::move(folders);
  return info;
}

TEST_CASE("modes and times of folders are kept, and part of the content's id") {
  const auto plain = make_manifest(sample_info(), {});
  REQUIRE(plain.ok());
  CHECK(plain->info.folders.empty());
  const std::int64_t first = std::numeric_limits<std::int64_t>::min();
  const auto made = make_manifest(with_folders({{"", 0700, -5}, {"deep", 0, first}}), {});
  REQUIRE(made.ok());
  REQUIRE(made->info.folders.size() == 2);
  CHECK(made->info.folders[0].path == "");
  CHECK(made->info.folders[0].mode == 0700);
  CHECK(made->info.folders[0].modified_ns == -5);
  CHECK(made->info.folders[1].path == "deep");
  CHECK(made->info.folders[1].mode == 0);
  CHECK(made->info.folders[1].modified_ns == first);
  CHECK(made->id != plain->id);
}

TEST_CASE("folders without files, twice, out of order or with other bits are refused") {
  const auto why = [](std::vector<FolderEntry> folders) {
    return make_manifest(with_folders(std::move(folders)), {}).error();
  };
  for (const char* path : {"dee", "deep/", "deep/b.txt", "nothing here", "way", "elsewhere", "/"}) {
    CAPTURE(path);
    CHECK(has(why({{path}}), "no file lies in it"));
  }
  CHECK(has(why({{"deep"}, {"deep"}}), "twice or out of order"));
  CHECK(has(why({{"deep"}, {""}}), "twice or out of order"));
  CHECK(has(why({{"deep", 01000}}), "above 0777"));
  Info one = info_of_shape(4, 16, 64);
  one.folders = {{""}};
  CHECK(has(make_manifest(one, {}).error(), "no file lies in it"));
}

}  // namespace
}  // namespace firn::test::manifest_folders_test
