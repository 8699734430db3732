// The folder that a content has for itself in DIR. In a folder that stood there before, a download
// makes and changes nothing, but in DIR: a stranger chooses the names in a content, and must not
// reach what a user's programs read (docs/security.md, "What a content can do to its receiver").
#pragma once

#include <string>

#include "client/store/files.h"
#include "proto/content/manifest.h"

namespace firn::store {

enum class TopFolder {
  kMade,
  kEmpty,  // it stood there with nothing in it, and may be used
  kTaken,  // something else stands there
};

// Makes the folder `name` for the content. The file system says whether the name is free: in its
// own sense of case and of Unicode's forms. Errors: check_ownership() of an empty one, the disk's.
Result<TopFolder> take_top_folder(Files& files, const Info& info, const std::string& name);

}  // namespace firn::store
