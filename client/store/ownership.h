// Whether it is safe to download into a folder that stood in DIR before. In a folder like /tmp (the
// sticky bit: everybody may make names, nobody may exchange those of others) another user may have
// made it, and could change what has been verified. Without the sticky bit, the user who made it
// can exchange everything in DIR anyway.
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

// Makes a folder below one that stands; one that stood there is checked.
Status take_own_folder(Files& files, const std::string& folder);

}  // namespace firn::store
