#include "client/app/daemon/content_removal.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "../temp_folder.h"
#include "client/content/create.h"
#include "client/store/work_folder.h"

namespace firn::app {
namespace {

namespace fs = std::filesystem;

// A download whose files stand in its folder: its own, or the user's.
struct Removed {
  firn::tests::TempFolder folder;
  KeptContent content;
  const fs::path file = fs::path(folder.path()) / "c" / "a";

  Removed() {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "first";
    const Manifest manifest =
        content::create_manifest(file.parent_path().string(), content::CreateOptions{}).value();
    content.id = manifest.id;
    content.manifest = manifest.file_bytes;
    content.folder = folder.path();
  }
};

TEST_CASE("a download that never got its name deletes no file of the user's, however alike") {
  Removed removed;
  REQUIRE(delete_content(removed.content).ok());
  CHECK(fs::exists(removed.file));
}

TEST_CASE("a download deletes the files that it has finished, and its work folder") {
  Removed removed;
  const fs::path work =
      fs::path(removed.folder.path()) / store::WorkFolder::path_of(removed.content.id);
  fs::create_directories(work);
  REQUIRE(delete_content(removed.content).ok());
  CHECK_FALSE(fs::exists(removed.file.parent_path()));
  CHECK_FALSE(fs::exists(work.parent_path()));
}

TEST_CASE(
    "a content that was complete, or has just got its names, needs no work folder to be deleted") {
  Removed removed;
  SUBCASE("it was complete") {
    removed.content.finished_at = 1;
  }
  SUBCASE("it was not noted yet that it is") {
    removed.content.mark = "0123";
  }
  REQUIRE(delete_content(removed.content).ok());
  CHECK_FALSE(fs::exists(removed.file));
}

}  // namespace
}  // namespace firn::app
