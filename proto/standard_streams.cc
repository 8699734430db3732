#include "proto/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
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
  errno = 0;
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return Done{};
  Error error = error_from_errno("write to standard output", errno != 0 ? errno : EIO);
  if (error.code != ErrorCode::kDiskFull) error.code = ErrorCode::kIo;
  return error;
}

}  // namespace firn
