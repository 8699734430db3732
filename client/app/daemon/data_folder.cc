#include "client/app/daemon/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace firn::app {
namespace {

// An absolute path in an environment variable (XDG Base Directory Specification: others are
// ignored); empty: there is none.
std::string path_in(const char* variable) {
  const char* const value = std::getenv(variable);
  return value != nullptr && *value == '/' ? value : "";
}

}  // namespace

std::string DataFolder::default_path() {
  if (const std::string state = path_in("XDG_STATE_HOME"); !state.empty()) return state + "/firn";
  if (const std::string home = path_in("HOME"); !home.empty()) return home + "/.local/state/firn";
  return {};
}

std::string DataFolder::default_socket(const std::string& data) {
  const std::string runtime = path_in("XDG_RUNTIME_DIR");
  return (runtime.empty() ? data : runtime) + "/firn.sock";
}

Result<DataFolder> DataFolder::take(const std::string& path) {
  if (path.empty())
    return Error{ErrorCode::kBadInput, "find a folder for the daemon's state",
                 "HOME is not set; name one with --data DIR"};
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return error_from_errno("make the folder " + path, errno);
  const std::string name = path + "/lock";
  UniqueFd lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.get() < 0) return error_from_errno("open " + name, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return DataFolder(path, std::move(lock));
  if (errno != EWOULDBLOCK) return error_from_errno("lock " + name, errno);
  return Error{ErrorCode::kExists, "take the folder " + path,
               "another daemon runs with it; `firn list` asks that one, and --data names a folder "
               "for a second one"};
}

}  // namespace firn::app
