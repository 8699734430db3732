// Whether a folder that stood in DIR before is safe to download into. In a folder that many may
// write to, such as /tmp, somebody else may have made it, and could change what has been verified.
#pragma once

#include <string>

#include "client/store/files.h"
#include "proto/base/result.h"

namespace firn::store {

// `folder` is relative to DIR, the folder of `files`. kExists if it is neither this process's
// user's nor that of DIR's owner, or if everybody may exchange what is in it (who may write to it
// may, without the sticky bit) and not what is in DIR.
Status check_ownership(Files& files, const std::string& folder);

}  // namespace firn::store
