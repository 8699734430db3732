// Finds out before a byte is fetched whether the file system can hold a content's names. It may
// take two of them for one (README and readme, or two Unicode forms of a name): the second file
// would get the first one's bytes, or wait for ever for its final name. It may refuse characters,
// or have no symbolic links.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "client/store/files.h"
#include "proto/content/manifest.h"

namespace firn::store {

// Makes each name of the content as something new: an empty file, a folder, or the symbolic link
// itself. Not those of files that are not chosen and have no byte of a wanted generation: they are
// nowhere. If all are chosen and `folder` is not there, the names stay below `folder` until files
// on their way take them. A kill leaves nothing but `folder`.new, which the next call removes.
// `chosen`: as OpenOptions::chosen. `known`: a choice whose names are possible, null for none; of
// them only what stands in a folder of a new name is made. `cancelled` may be empty. Errors:
// kExists (two names are one; the error tells both), kCancelled, the disk's.
Status make_names(Files& files, const Info& info, const std::string& folder,
                  const std::vector<bool>& chosen, const std::function<bool()>& cancelled,
                  const std::vector<bool>* known = nullptr);

}  // namespace firn::store
