#include "proto/program/log_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>

#include "proto/program/standard_streams.h"

namespace firn {
namespace {

// 9 stands for any digit.
constexpr std::string_view kLineStart = "[9999-99-99 99:99:99.999] [firn";

bool begins_as_log(std::string_view head) {
  if (head.empty()) return true;
  if (head.size() < kLineStart.size()) return false;
  for (std::size_t i = 0; i < kLineStart.size(); ++i) {
    const bool digit = std::isdigit(static_cast<unsigned char>(head[i])) != 0;
    if (kLineStart[i] == '9' ? !digit : head[i] != kLineStart[i]) return false;
  }
  return true;
}

Result<UniqueFd> open_log(const std::string& path, bool wait_for_reader) {
  const std::string operation = "open the log " + path;
  if (const auto stream = descriptor_named(path)) {
    UniqueFd fd(::fcntl(*stream, F_DUPFD_CLOEXEC, 3));
    if (fd.get() < 0) return error_from_errno(operation, errno);
    return fd;
  }
  struct stat status {};
  const bool stands = ::lstat(path.c_str(), &status) == 0;
  int flags = O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NOCTTY;
  if (stands && S_ISFIFO(status.st_mode)) {
    flags |= wait_for_reader ? O_WRONLY : O_WRONLY | O_NONBLOCK;
  } else if (stands && S_ISCHR(status.st_mode) && status.st_rdev == makedev(1, 3)) {
    flags |= O_WRONLY;  // /dev/null
  } else {
    const Status possible = OutputFile(path, kLogOfFirn).check();
    if (!possible.ok()) return possible.error();
    flags |= O_RDWR | O_CREAT | O_NONBLOCK;
  }
  UniqueFd fd(::open(path.c_str(), flags, 0600));
  if (fd.get() < 0) return error_from_errno(operation, errno);
  // What was opened may not be what was looked at.
  struct stat opened {};
  if (::fstat(fd.get(), &opened) != 0) return error_from_errno(operation, errno);
  const bool same = stands && opened.st_dev == status.st_dev && opened.st_ino == status.st_ino;
  if (!same && (stands || !S_ISREG(opened.st_mode) || opened.st_size != 0))
    return Error{ErrorCode::kExists, operation, "it changed while it was opened; try again"};
  // From now on a slow reader of a FIFO costs it lines, and us no time.
  if (S_ISFIFO(opened.st_mode)) (void)::fcntl(fd.get(), F_SETFL, O_WRONLY | O_NONBLOCK);
  return fd;
}

}  // namespace

const FileKind kLogOfFirn{"log of Firn's", begins_as_log};

Result<LogFile> LogFile::open(const std::string& path) {
  auto fd = open_log(path, true);
  if (!fd.ok()) return fd.error();
  return LogFile(path, *std::move(fd));
}

Status LogFile::write(std::string_view line) {
  while (!line.empty()) {
    const ssize_t wrote = ::write(fd_.get(), line.data(), line.size());
    if (wrote >= 0) {
      line.remove_prefix(static_cast<std::size_t>(wrote));
    } else if (errno == EAGAIN) {
      return Done{};
    } else if (errno != EINTR) {
      Error error = error_from_errno("write the log " + path_, errno);
      if (errno == EPIPE) error.code = ErrorCode::kIo;
      return error;
    }
  }
  return Done{};
}

Status LogFile::reopen() {
  auto fd = open_log(path_, false);
  if (!fd.ok()) return fd.error();
  fd_ = *std::move(fd);
  return Done{};
}

}  // namespace firn
