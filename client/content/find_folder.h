// Where a finished content stands if the folder that was named is one level off.
#pragma once

#include <string>

#include "proto/content/manifest.h"

namespace firn::content {

// The folder in which the content's file or folder stands: `dir`, or, if it is not there, the one
// above (when `dir` is the content itself) or the only one just below `dir` that has it. `dir` if
// none has.
std::string find_content_folder(const Info& info, const std::string& dir);

}  // namespace firn::content
