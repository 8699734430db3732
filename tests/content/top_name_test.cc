#include "client/content/top_name.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

namespace firn::content {
namespace {

TEST_CASE("final paths stand below the folder that was given") {
  Info info;
  info.name = "name";
  info.files.resize(1);
  info.files[0].path = "a/b";
  CHECK(final_path(info, "", "/out", 0) == "/out/name/a/b");
  CHECK(final_path(info, "", "/out/", 0) == "/out/name/a/b");
  CHECK(final_path(info, "other", "/out/", 0) == "/out/other/a/b");
  info.single_file = true;
  CHECK(final_path(info, "", ".", 0) == "./name");
  CHECK(final_path(info, "other", "", 0) == "other");
}

TEST_CASE("a name that is read unasked, or taken for an option, is not taken from a manifest") {
  for (const std::string name : {".config", ".bash_profile", ".x", "-rf", "--help", "\u200b.ssh",
                                 "\ufeff\u00ad-x", "\U000e0001.local", "\u115f\u3164.x"}) {
    CAPTURE(name);
    CHECK_FALSE(name_fault(name, false).empty());
    CHECK_FALSE(name_fault(name, true).empty());
  }
  for (const std::string name : {"photos", "a.config", "a-b", "_x", "\u2010x", "\uff0ex", "bin.old",
                                 "\u200bphotos", "\u200b"}) {
    CAPTURE(name);
    CHECK(name_fault(name, false).empty());
    CHECK(name_fault(name, true).empty());
  }
  for (const std::string name : {"bin", "BIN", "Bin", "\u200bbin", "bi\u200bn"}) {
    CAPTURE(name);
    CHECK(name_fault(name, false).empty());
    CHECK_FALSE(name_fault(name, true).empty());
  }
}

TEST_CASE(
    "the user may choose any one name for a content, and the home folder is known by any path") {
  std::string pattern = (std::filesystem::temp_directory_path() / "firn-home-XXXXXX").string();
  const std::string home = ::mkdtemp(pattern.data());
  ::setenv("HOME", home.c_str(), 1);
  Info info;
  info.name = "bin";
  CHECK(check_top_name(info, {"/", ""}).ok());
  CHECK(check_top_name(info, {home + "/missing", ""}).ok());
  CHECK(check_top_name(info, {home, "programs"}).ok());
  CHECK(check_top_name(info, {home, "bin"}).ok());
  for (const std::string& path :
       {home, home + "/", home + "/.",
        home + "/../" + std::filesystem::path(home).filename().string()}) {
    CAPTURE(path);
    const Status refused = check_top_name(info, {path, ""});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kExists);
    CHECK(refused.error().message().find("--as NAME") != std::string::npos);
  }
  info.name = ".config";
  CHECK_FALSE(check_top_name(info, {"/", ""}).ok());
  CHECK(check_top_name(info, {"/", ".config"}).ok());
  for (const std::string as : {"a/b", "..", ".", "/a", ".firn", ".FIRN", "a\x01", "nul", "a "}) {
    CAPTURE(as);
    const Status refused = check_top_name(info, {"/", as});
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().code == ErrorCode::kBadInput);
  }
  std::filesystem::remove(home);
}

}  // namespace
}  // namespace firn::content
