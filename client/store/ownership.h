// Whether a folder that stood in DIR before is safe to download into. In a folder like /tmp, where
// everybody may make names and nobody exchange those of others, somebody else may have made it, and
// could change what has been verified. Elsewhere who made it may exchange what is in DIR anyway.
#pragma once

#include <string>

#include "client/store/files.h"
#include "proto/base/result.h"

namespace firn::store {

// `folder` is relative to DIR, the folder of `files`. kExists if the folder that it is in has the
// sticky bit, and it is neither this process's user's nor that folder's owner's; or if everybody
// may exchange what is in it (they may write to it, without the sticky bit), and not what is in the
// folder that it is in.
Status check_ownership(Files& files, const std::string& folder);

}  // namespace firn::store
