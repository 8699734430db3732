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
  const auto found = [](const Info& info, const std::string& dir) {
    const ContentPlace place = find_content(info, {dir, ""});
    CHECK(place.as.empty());
    return place.dir;
  };
  for (const Info& info : {named("photos", false), named("film", true)}) {
    CHECK(found(info, right) == right);
    CHECK(found(info, top.path) == right);
    CHECK(found(info, right + "/" + info.name) == right);
    Info other = info;
    other.name = "other";
    CHECK(find_content(other, {top.path, info.name}) == ContentPlace{right, info.name});
  }
  CHECK(found(named("photos", false), right + "/photos/") == right);
  const std::string deep = right + "/photos/2026";
  CHECK(found(named("photos", false), deep) == deep);
  CHECK(found(named("photos", true), right) == right);  // a folder, not the file
  CHECK(found(named("other", false), top.path) == top.path);

  fs::create_directories(top.path / "b/photos");
  CHECK(found(named("photos", false), top.path) == top.path);  // which one?
}

TEST_CASE("the path of a content itself leads to it, whatever its name is there") {
  const Folder top;
  fs::create_directories(top.path / "renamed/d");
  std::ofstream(top.path / "renamed/d/one") << "four";
  Info folder = named("photos", false);
  folder.files.resize(2);
  folder.files[0].path = "a";
  folder.files[0].kind = FileEntry::Kind::kFolder;
  folder.files[1].path = "d/one";
  folder.files[1].bytes = 4;
  const ContentPlace right{top.path, "renamed"};
  CHECK(find_content(folder, {top.path / "renamed", ""}) == right);
  CHECK(find_content(folder, {(top.path / "renamed/").string(), ""}) == right);
  CHECK(find_content(named("film", true), {top.path / "renamed/d/one", ""}) ==
        ContentPlace{top.path / "renamed/d", "one"});
  const ContentPlace other{top.path / "renamed/d", ""};
  CHECK(find_content(folder, other) == other);
  folder.files[1].bytes = 5;
  CHECK(find_content(folder, {top.path / "renamed", ""}) == ContentPlace{top.path / "renamed", ""});
}

}  // namespace
}  // namespace firn::content
