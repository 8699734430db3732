// Names of a content that the file system takes for one: README and readme, or two Unicode forms of
// a name. The second file would get the first one's bytes, or wait for ever for its final name.
#pragma once

#include <string>

#include "client/store/files.h"
#include "proto/content/manifest.h"

namespace firn::store {

// Makes every name of the content below `folder`, each as something new: an empty file, or a
// folder. They stay there until files on their way take them. Does nothing if `folder` is there. A
// kill leaves nothing but `folder`.new, which the next call removes. Errors: kExists (two names are
// one; the error tells both), the disk's.
Status make_names(Files& files, const Info& info, const std::string& folder);

}  // namespace firn::store
