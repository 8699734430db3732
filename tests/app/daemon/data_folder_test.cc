#include "client/app/daemon/data_folder.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace firn::app {
namespace {

struct Folder {
  Folder() {
    std::string pattern = std::filesystem::temp_directory_path() / "firn-folder-XXXXXX";
    path = ::mkdtemp(pattern.data());
  }
  ~Folder() { std::filesystem::remove_all(path); }
  Folder(const Folder&) = delete;
  std::filesystem::path path;
};

TEST_CASE("a daemon's port is kept, and replaced in one step") {
  const Folder folder;
  const DataFolder data = DataFolder::take(folder.path).value();
  CHECK(data.port(DataFolder::kPeersPort) == 0);
  REQUIRE(data.keep_port(DataFolder::kPeersPort, 45711).ok());
  CHECK(data.port(DataFolder::kPeersPort) == 45711);
  std::ifstream before(folder.path / "port");
  REQUIRE(data.keep_port(DataFolder::kPeersPort, 80).ok());
  CHECK(data.port(DataFolder::kPeersPort) == 80);
  CHECK(data.port(DataFolder::kPagePort) == 0);
  std::string read;
  std::getline(before, read);
  CHECK(read == "45711");  // of a file that nothing was written over
}

TEST_CASE("a port file that is not a whole line with a port counts as none") {
  const Folder folder;
  const DataFolder data = DataFolder::take(folder.path).value();
  for (const char* text :
       {"", "\n", "457", "45711", "-1\n", "+1\n", "65536\n", "457x\n", " 457\n"}) {
    CAPTURE(text);
    std::ofstream(folder.path / "port") << text;
    CHECK(data.port(DataFolder::kPeersPort) == 0);
  }
}

TEST_CASE("a list without a byte beside a key of an earlier run is no empty list") {
  const Folder folder;
  const DataFolder data = DataFolder::take(folder.path).value();
  const std::string list = folder.path / "contents.sqlite";
  CHECK(data.contents_file().value() == list);
  std::ofstream(list).close();  // the first run was killed
  CHECK(data.contents_file().ok());
  std::ofstream(data.identity_file()) << "key";
  const auto lost = data.contents_file();
  REQUIRE_FALSE(lost.ok());
  CHECK(lost.error().code == ErrorCode::kCorrupt);
  CHECK(lost.error().message().find("firn add") != std::string::npos);
  std::filesystem::remove(list);
  CHECK(data.contents_file().ok());
}

}  // namespace
}  // namespace firn::app
