#include "client/content/find_folder.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace firn::content {
namespace {

namespace fs = std::filesystem;

struct Folder {
  Folder() {
    std::string pattern = (fs::temp_directory_path() / "firn-find-XXXXXX").string();
    path = fs::canonical(::mkdtemp(pattern.data()));
  }
  ~Folder() { fs::remove_all(path); }
  fs::path path;
};

Info named(const std::string& name, bool single_file) {
  Info info;
  info.name = name;
  info.single_file = single_file;
  return info;
}

TEST_CASE("a content is found where it stands, one level above and one below, and nowhere else") {
  const Folder top;
  fs::create_directories(top.path / "a/photos/2026");
  std::ofstream(top.path / "a/film") << "x";
  const std::string right = top.path / "a";
  for (const Info& info : {named("photos", false), named("film", true)}) {
    CHECK(find_content_folder(info, right) == right);
    CHECK(find_content_folder(info, top.path) == right);
    CHECK(find_content_folder(info, right + "/" + info.name) == right);
  }
  CHECK(find_content_folder(named("photos", false), right + "/photos/") == right);
  const std::string deep = right + "/photos/2026";
  CHECK(find_content_folder(named("photos", false), deep) == deep);
  CHECK(find_content_folder(named("photos", true), right) == right);  // a folder, not the file
  CHECK(find_content_folder(named("other", false), top.path) == top.path);

  fs::create_directories(top.path / "b/photos");
  CHECK(find_content_folder(named("photos", false), top.path) == top.path);  // which one?
}

}  // namespace
}  // namespace firn::content
