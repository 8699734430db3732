#include "proto/program/user_folders.h"

#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
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

// Far more than the file has: eight short lines.
constexpr int kUserDirsLinesMax = 1000;

// What stands in quotes behind the name, as in XDG_DOWNLOAD_DIR="$HOME/Downloads"; empty: nothing
// that is absolute.
std::string quoted_path(std::string_view text, const std::string& home) {
  if (!text.starts_with('"')) return "";
  constexpr std::string_view kHome = "$HOME";
  text.remove_prefix(1);
  std::string path;
  if (text.starts_with("$HOME/") || text.starts_with("$HOME\"")) {
    path = home;
    text.remove_prefix(kHome.size());
  }
  for (std::size_t i = 0; i < text.size() && text[i] != '"'; ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    path += text[i];
  }
  return path.starts_with('/') ? path : "";
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

std::string user_download_folder() {
  const std::string home = path_in("HOME");
  if (home.empty()) return "";
  constexpr std::string_view kName = "XDG_DOWNLOAD_DIR=";
  std::ifstream file(user_config_folder() + "/user-dirs.dirs");
  std::string line, found;
  for (int i = 0; i < kUserDirsLinesMax && std::getline(file, line); ++i)
    if (line.starts_with(kName))
      found = quoted_path(std::string_view(line).substr(kName.size()), home);
  return found.empty() ? home + "/Downloads" : found;
}

Status make_private_folder(const std::string& path) {
  std::filesystem::path folder(path);
  if (!folder.has_filename()) folder = folder.parent_path();  // `a/b/` is `a/b`
  const std::filesystem::path above = folder.parent_path();
  std::error_code failed;
  if (!above.empty()) std::filesystem::create_directories(above, failed);
  if (failed) return error_from_errno("make the folder " + above.string(), failed.value());
  if (::mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) return Done{};
  return error_from_errno("make the folder " + path, errno);
}

}  // namespace firn
