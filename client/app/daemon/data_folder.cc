#include "client/app/daemon/data_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "proto/program/user_folders.h"

namespace firn::app {

std::string DataFolder::default_path() {
  const std::string state = user_state_folder();
  return state.empty() ? "" : state + "/firn";
}

std::string DataFolder::default_socket(const std::string& data) {
  const std::string runtime = user_runtime_folder();
  return (runtime.empty() ? data : runtime) + "/firn.sock";
}

std::string DataFolder::socket_to_ask(const std::string& data) {
  const std::string usual = default_socket(data), other = data + "/firn.sock";
  std::error_code ignored;
  return !std::filesystem::exists(usual, ignored) && std::filesystem::exists(other, ignored)
             ? other
             : usual;
}

Result<DataFolder> DataFolder::take(const std::string& path) {
  if (path.empty())
    return Error{ErrorCode::kBadInput, "find a folder for the daemon's state",
                 "HOME is not set; name one with --data DIR"};
  if (const Status made = make_private_folder(path); !made.ok()) return made.error();
  const std::string name = path + "/lock";
  UniqueFd lock(::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (lock.get() < 0) return error_from_errno("open " + name, errno);
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) == 0) return DataFolder(path, std::move(lock));
  if (errno != EWOULDBLOCK) {
    Error error = error_from_errno("lock " + name, errno);
    if (error.code == ErrorCode::kUnsupported)
      error.detail += "; name a folder on a disk of this machine with --data";
    return error;
  }
  return Error{
      ErrorCode::kExists, "take the folder " + path,
      "another daemon runs with it; `firn list` asks that one, and --data and --socket are "
      "for a second one"};
}

Result<std::string> DataFolder::contents_file() const {
  std::string list = path_ + "/contents.sqlite";
  std::error_code missing;
  if (std::filesystem::file_size(list, missing) != 0 || missing) return list;
  if (!std::filesystem::exists(identity_file(), missing)) return list;
  return Error{ErrorCode::kCorrupt, "read " + list,
               "the file is empty, though a daemon has run here: its list of contents is lost, as "
               "by a full disk or a power cut. Put a copy of it there, or delete it and `firn add` "
               "each content again with the folder that it is in, which fetches nothing that is "
               "there"};
}

std::uint16_t DataFolder::port(const char* file_name) const {
  std::ifstream file(path_ + "/" + file_name);
  std::string line;
  // At the end of the file already: its newline is missing, and perhaps digits too.
  if (!std::getline(file, line) || file.eof()) return 0;
  std::uint16_t port = 0;
  const char* const end = line.data() + line.size();
  const auto [read_to, fault] = std::from_chars(line.data(), end, port);
  return fault == std::errc() && read_to == end ? port : 0;
}

// What is kept stays until another is written in full.
Status DataFolder::keep_port(const char* file_name, std::uint16_t port) const {
  const std::string name = path_ + "/" + file_name, beside = name + ".new";
  const std::string text = std::to_string(port) + "\n";
  const UniqueFd file(
      ::open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file.get() < 0) return error_from_errno("open " + beside, errno);
  const ssize_t written = ::write(file.get(), text.data(), text.size());
  if (written != static_cast<ssize_t>(text.size()))
    return error_from_errno("write " + beside, written < 0 ? errno : ENOSPC);
  if (::rename(beside.c_str(), name.c_str()) != 0)
    return error_from_errno("rename " + beside + " to " + name, errno);
  return Done{};
}

}  // namespace firn::app
