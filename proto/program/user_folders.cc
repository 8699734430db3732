#include "proto/program/user_folders.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace firn {
namespace {

// Empty: the variable holds no absolute path.
std::string path_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value == '/' ? value : "";
}

std::string folder_in(const char* variable, const char* below_home) {
  if (const std::string folder = path_in(variable); !folder.empty()) return folder;
  const std::string home = path_in("HOME");
  return home.empty() ? "" : home + below_home;
}

}  // namespace

std::string user_config_folder() {
  return folder_in("XDG_CONFIG_HOME", "/.config");
}

std::string user_state_folder() {
  return folder_in("XDG_STATE_HOME", "/.local/state");
}

std::string user_runtime_folder() {
  return path_in("XDG_RUNTIME_DIR");
}

Status make_private_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) return Done{};
  return error_from_errno("make the folder " + path, errno);
}

}  // namespace firn
