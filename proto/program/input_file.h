// A small file that a user names to be read whole: a manifest, a key.
//
// It is a regular file, directly or through symbolic links, or a stream that the process was
// started with (/dev/stdin, /dev/fd/N), as from a shell's `<(...)`. Nothing else is opened: a FIFO,
// a device or a socket could keep the program waiting for ever.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "proto/base/result.h"

namespace firn {

// Errors: kNotFound and others as errno says; kExists (it is no file: says what it is); kBadInput
// (it has more than `bytes_max` bytes).
Result<std::string> read_input_file(const std::string& path, std::size_t bytes_max);

// The same, in lines without the white space around them; empty ones and those that begin with '#'
// are left out.
Result<std::vector<std::string>> read_input_lines(const std::string& path, std::size_t bytes_max);

// As read_input_file(), for a file that says what the program does: nobody but root and the user of
// this process may be able to write it. Errors: also kBadInput (another user owns it, or may write
// it).
Result<std::string> read_trusted_file(const std::string& path, std::size_t bytes_max);

}  // namespace firn
