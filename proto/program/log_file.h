// The log that a program writes for people where its user said: --log FILE.
//
// FILE is a new file, an empty one, or an older log of Firn's, to which lines are appended; a FIFO
// that has a reader; or a stream of the process itself (/dev/stdout, /dev/stderr, /dev/fd/N) or
// /dev/null. Anything else is refused, and nothing is written through a symbolic link.
#pragma once

#include <string>
#include <string_view>

#include "proto/base/unique_fd.h"
#include "proto/program/output_file.h"

namespace firn {

// Lines of a log begin so: `[2026-01-31 23:59:59.999] [firn] [info] `; with the tracker's name in
// place of firn. A pattern of spdlog's.
inline constexpr const char* kLogLinePattern = "[%Y-%m-%d %H:%M:%S.%e] [%n] [%l] %v";
extern const FileKind kLogOfFirn;

// One thread at a time.
class LogFile {
 public:
  // Waits until a FIFO has a reader. Errors: as OutputFile::check().
  static Result<LogFile> open(const std::string& path);

  // Appends a whole line. A line for which a FIFO has no room, as its reader is slow, is left out.
  Status write(std::string_view line);

  // Opens the name anew, as after another program moved the file away. Keeps to the old one if that
  // fails (for a FIFO, also if it has no reader).
  Status reopen();

 private:
  LogFile(std::string path, UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  UniqueFd fd_;
};

}  // namespace firn
