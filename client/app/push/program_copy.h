// A copy of this program with the libraries that it has loaded, for hosts of the same kind that
// have neither: bin/firn, libexec/firn, lib/. glibc is left out; the host's own is used.
#pragma once

#include <string>

#include "proto/base/result.h"

namespace firn::app {

// Where this program's file is, also if the dynamic loader was called by name with it.
std::string program_path();

// Makes the copy in the empty folder `top`. bin/firn starts libexec/firn by the dynamic loader,
// which alone sees where the libraries are: commands that the program starts do not.
Result<bool> copy_program(const std::string& top);

// Whether glibc brings this library, of which a process has only that of its own host.
bool is_of_glibc(const std::string& file_name);

}  // namespace firn::app
