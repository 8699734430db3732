// Where a finished content stands if the folder that was named is one level off.
#pragma once

#include <string>

#include "client/content/top_name.h"
#include "proto/content/manifest.h"

namespace firn::content {

// `named.dir` has the content's file or folder; or, if it is not there, the folder above (when
// `named.dir` is the content itself, which may bear another name than its own), or the only one
// just below that has it. `named` if none has.
ContentPlace find_content(const Info& info, const ContentPlace& named);

}  // namespace firn::content
