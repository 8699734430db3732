// Whether what stands finished on the disk may be served.
#pragma once

#include "client/store/content_files.h"
#include "client/store/content_store.h"
#include "client/store/files.h"
#include "proto/content/manifest.h"

namespace firn::store {

// Sets the place of each file that can be served. Every file must be there with its size, and may
// be read; one whose time is not the manifest's may have been written since: it is hashed, unless
// options.trust. Errors name all files that are missing (kNotFound), short, long or changed
// (kCorrupt), or the first that may not be read (kReadOnly).
Status place_servable(Files& files, ContentFiles& content, const Manifest& manifest,
                      const OpenOptions& options);

}  // namespace firn::store
