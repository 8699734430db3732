// Standard input, output and error, as a program's start and end must treat them.
#pragma once

#include <optional>
#include <string_view>

#include "proto/base/result.h"

namespace firn {

// Before anything is opened: gives 0, 1 and 2 a place where they were closed, so that no file gets
// these numbers. Writing there fails as it would have.
void open_missing_streams();

// Hands to the system what was written to stdout. Errors: it did not take all since the program
// began (kDiskFull, kIo; kCancelled: the reader of a pipe has gone, as `head` does, which is no
// news to anybody).
Status flush_stdout();

// The descriptor that a name stands for: /dev/stdin, /dev/stdout, /dev/stderr, /dev/fd/N,
// /proc/self/fd/N.
std::optional<int> descriptor_named(std::string_view path);

}  // namespace firn
