// Where a user's files are kept, as the environment says.
#include "proto/program/user_folders.h"

#include <doctest/doctest.h>

#include <cstdlib>
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

}  // namespace
}  // namespace firn
