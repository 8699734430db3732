#include "proto/program/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>

namespace firn {

void open_missing_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest free number is this one. In the wrong direction, so that using it is an error.
    (void)::open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

Status flush_stdout() {
  // A text as long as the buffer is written before this call: then errno is that write's.
  if (std::ferror(stdout) == 0) errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return Done{};
  const int number = errno != 0 ? errno : EIO;
  Error error = error_from_errno("write to standard output", number);
  if (error.code != ErrorCode::kDiskFull)
    error.code = number == EPIPE ? ErrorCode::kCancelled : ErrorCode::kIo;
  return error;
}

std::optional<int> descriptor_named(std::string_view path) {
  if (path == "/dev/stdin") return STDIN_FILENO;
  if (path == "/dev/stdout") return STDOUT_FILENO;
  if (path == "/dev/stderr") return STDERR_FILENO;
  for (const std::string_view folder : {"/dev/fd/", "/proc/self/fd/"}) {
    if (!path.starts_with(folder)) continue;
    const std::string_view digits = path.substr(folder.size());
    int number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error == std::errc{} && end == digits.data() + digits.size()) return number;
  }
  return std::nullopt;
}

}  // namespace firn
