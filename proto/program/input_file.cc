#include "proto/program/input_file.h"

#include <fcntl.h>
#include <openssl/crypto.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <sstream>

#include "proto/base/unique_fd.h"
#include "proto/program/output_file.h"
#include "proto/program/standard_streams.h"

namespace firn {
namespace {

Result<UniqueFd> open_input(const std::string& path) {
  const std::string operation = "open " + path;
  if (const auto stream = descriptor_named(path)) {
    UniqueFd fd(::fcntl(*stream, F_DUPFD_CLOEXEC, 3));
    if (fd.get() < 0) return error_from_errno(operation, errno);
    return fd;
  }
  // Opening some devices does something: they are told before. O_NONBLOCK, as the name may have
  // become another's since.
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return error_from_errno(operation, errno);
  if (S_ISREG(status.st_mode)) {
    UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) return error_from_errno(operation, errno);
    if (S_ISREG(status.st_mode)) return fd;
  }
  return Error{ErrorCode::kExists, operation, why_no_file(status.st_mode)};
}

// Of the file that is open: the name may become another's.
Status check_trusted(const UniqueFd& fd, const std::string& path) {
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return error_from_errno("open " + path, errno);
  if (status.st_uid != 0 && status.st_uid != ::geteuid())
    return Error{
        ErrorCode::kBadInput, "read " + path,
        "it belongs to another user, so that this user could change what the program does"};
  if ((status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return Error{ErrorCode::kBadInput, "read " + path,
                 "other users may write it, and so change what this program does; "
                 "chmod go-w takes that from them"};
  return Done{};
}

// A file says its size before it is read: a sparse one of any size costs its owner nothing.
Result<std::string> read_whole(const UniqueFd& fd, const std::string& path, std::size_t bytes_max) {
  const Error too_large{ErrorCode::kBadInput, "read " + path,
                        "it has more than " + std::to_string(bytes_max) + " bytes"};
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return error_from_errno("open " + path, errno);
  const auto size = static_cast<std::uint64_t>(S_ISREG(status.st_mode) ? status.st_size : 0);
  if (size > bytes_max) return too_large;
  std::string bytes;
  bytes.reserve(size);
  struct Chunk {
    char bytes[1 << 16];
    ~Chunk() { OPENSSL_cleanse(bytes, sizeof bytes); }  // it may have been a key
  } chunk;
  for (;;) {
    const ssize_t got = ::read(fd.get(), chunk.bytes, sizeof chunk.bytes);
    if (got == 0) return bytes;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return error_from_errno("read " + path, errno);
    bytes.append(chunk.bytes, static_cast<std::size_t>(got));
    if (bytes.size() > bytes_max) return too_large;
  }
}

}  // namespace

Result<std::string> read_input_file(const std::string& path, std::size_t bytes_max) {
  const auto fd = open_input(path);
  if (!fd.ok()) return fd.error();
  return read_whole(*fd, path, bytes_max);
}

Result<std::vector<std::string>> read_input_lines(const std::string& path, std::size_t bytes_max) {
  const auto text = read_input_file(path, bytes_max);
  if (!text.ok()) return text.error();
  std::vector<std::string> lines;
  std::istringstream stream(*text);
  for (std::string line; std::getline(stream, line);) {
    const std::size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    lines.push_back(line.substr(begin, line.find_last_not_of(" \t\r") - begin + 1));
  }
  return lines;
}

Result<std::string> read_trusted_file(const std::string& path, std::size_t bytes_max) {
  const auto fd = open_input(path);
  if (!fd.ok()) return fd.error();
  if (const Status trusted = check_trusted(*fd, path); !trusted.ok()) return trusted.error();
  return read_whole(*fd, path, bytes_max);
}

}  // namespace firn
