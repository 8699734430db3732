// Where a user's files are kept, as the environment says.
#include "proto/program/user_folders.h"

#include <doctest/doctest.h>
#include <sys/fsuid.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

namespace firn {
namespace {

// A variable with another value, or none, until the end of the scope.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* const before = std::getenv(name)) before_ = before;
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  void set(const char* value) {
    if (value == nullptr) {
      ::unsetenv(name_);
    } else {
      ::setenv(name_, value, 1);
    }
  }
  const char* name_;
  std::optional<std::string> before_;
};

TEST_CASE("folders of a user are those of XDG, else in the home folder, else none") {
  const Variable home("HOME", "/folder/of/a");
  {
    const Variable config("XDG_CONFIG_HOME", "/etc/a"), state("XDG_STATE_HOME", "/var/a"),
        runtime("XDG_RUNTIME_DIR", "/run/a");
    CHECK(user_config_folder() == "/etc/a");
    CHECK(user_state_folder() == "/var/a");
    CHECK(user_runtime_folder() == "/run/a");
  }
  const Variable config("XDG_CONFIG_HOME", "relative"), state("XDG_STATE_HOME", ""),
      runtime("XDG_RUNTIME_DIR", nullptr);
  CHECK(user_config_folder() == "/folder/of/a/.config");
  CHECK(user_state_folder() == "/folder/of/a/.local/state");
  CHECK(user_runtime_folder().empty());
  const Variable nowhere("HOME", nullptr);
  CHECK(user_config_folder().empty());
  CHECK(user_state_folder().empty());
}

TEST_CASE("the folder for downloads is the desktop's, else one in the home folder") {
  std::string made = std::filesystem::temp_directory_path() / "firn-user-folders-XXXXXX";
  REQUIRE(::mkdtemp(made.data()) != nullptr);
  const Variable home("HOME", "/folder/of/a"), config("XDG_CONFIG_HOME", made.c_str());
  CHECK(user_download_folder() == "/folder/of/a/Downloads");
  const auto with = [&](const std::string& text) {
    std::ofstream(made + "/user-dirs.dirs") << text;
    return user_download_folder();
  };
  CHECK(with("# made by xdg-user-dirs-update\nXDG_DESKTOP_DIR=\"/x\"\n"
             "XDG_DOWNLOAD_DIR=\"$HOME/T\\\"l\\$ charg\"\n") == "/folder/of/a/T\"l$ charg");
  CHECK(with("XDG_DOWNLOAD_DIR=\"/srv/all\"\n") == "/srv/all");
  CHECK(with("XDG_DOWNLOAD_DIR=\"$HOME\"\n") == "/folder/of/a");
  for (const char* const wrong : {"relative\"", "$HOMES/x\"", "", "$HOME"})
    CHECK(with("XDG_DOWNLOAD_DIR=\"" + std::string(wrong)) == "/folder/of/a/Downloads");
  CHECK(with("XDG_DOWNLOAD_DIR=/srv/all\n") == "/folder/of/a/Downloads");
  const Variable nowhere("HOME", nullptr);
  CHECK(user_download_folder().empty());
  std::filesystem::remove_all(made);
}

TEST_CASE("a private folder is its owner's alone, and one that stands is kept as it is") {
  std::string made = std::filesystem::temp_directory_path() / "firn-user-folders-XXXXXX";
  REQUIRE(::mkdtemp(made.data()) != nullptr);
  using std::filesystem::perms;
  for (const std::string name : {"/above/one", "/above/two/"}) {
    REQUIRE(make_private_folder(made + name).ok());
    CHECK(std::filesystem::status(made + name).permissions() == perms::owner_all);
  }
  std::filesystem::permissions(made + "/above/one", perms::all);
  CHECK(make_private_folder(made + "/above/one").ok());
  CHECK(std::filesystem::status(made + "/above/one").permissions() == perms::all);
  std::filesystem::remove_all(made);
}

TEST_CASE("why a folder cannot be made is said of the first one that cannot") {
  std::string made = std::filesystem::temp_directory_path() / "firn-user-folders-XXXXXX";
  REQUIRE(::mkdtemp(made.data()) != nullptr);
  std::filesystem::permissions(made, std::filesystem::perms(0555));
  const auto user = ::setfsuid(65534);  // root may write everywhere
  const Status status = make_private_folder(made + "/a/b");
  ::setfsuid(static_cast<uid_t>(user));
  std::filesystem::permissions(made, std::filesystem::perms(0755));
  std::filesystem::remove_all(made);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().code == ErrorCode::kReadOnly);
  CHECK(status.error().message().find(made + "/a:") != std::string::npos);
}

}  // namespace
}  // namespace firn
