#include "client/app/daemon/file_stamp.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "../temp_folder.h"
#include "client/content/create.h"

namespace firn::app {
namespace {

using tests::TempFolder;
namespace fs = std::filesystem;

// A folder with two files and a link, and what its manifest says.
struct Tree {
  TempFolder folder;
  std::string path = folder.path() + "/c";
  Info info;

  Tree() {
    fs::create_directories(path + "/empty");
    std::ofstream(path + "/a") << "first";
    std::ofstream(path + "/b") << "other";
    fs::create_symlink("a", path + "/link");
    content::CreateOptions options;
    options.scan.links = content::ScanOptions::Links::kKeep;
    info = content::create_manifest(path, options).value().info;
  }
  FileStamp stamp() const { return stamp_files(info, "", folder.path()).value(); }
};

TEST_CASE("files that nobody has touched keep their stamp, and are as their manifest says") {
  const Tree tree;
  CHECK(tree.stamp().as_described);
  CHECK(tree.stamp().digest == tree.stamp().digest);
}

TEST_CASE("a file of another time, size or inode, and another link, changes the stamp") {
  const auto change = [](const Tree& tree, int which) {
    const std::string a = tree.path + "/a";
    const auto time = fs::last_write_time(a);
    if (which == 0) fs::last_write_time(a, time + std::chrono::seconds(1));
    if (which == 1) std::ofstream(a, std::ios::app) << "!";
    if (which == 2) {
      fs::copy_file(a, tree.path + "/new");
      fs::rename(tree.path + "/new", a);
    }
    if (which == 3) fs::remove(a);
    if (which == 4) {
      fs::remove(tree.path + "/link");
      fs::create_symlink("b", tree.path + "/link");
    }
    // Another inode alone is no reason to doubt what the manifest says.
    if (which == 1 || which == 2) fs::last_write_time(a, time);
  };
  for (int which = 0; which < 5; ++which) {
    CAPTURE(which);
    const Tree tree;
    const FileStamp before = tree.stamp();
    change(tree, which);
    const FileStamp after = tree.stamp();
    CHECK((which == 4 || after.digest != before.digest));
    CHECK(after.as_described == (which == 2));
  }
}

TEST_CASE("what stands in a folder does not change the stamp of its content") {
  const Tree tree;
  const std::string before = tree.stamp().digest;
  std::ofstream(tree.path + "/mine") << "not the content's";
  CHECK(tree.stamp().digest == before);
  CHECK(tree.stamp().as_described);
}

}  // namespace
}  // namespace firn::app
