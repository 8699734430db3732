// What the file system tells of a content's files: sizes, times and inodes. Files whose stamp is as
// it was when they were known to be right need not be read again.
#pragma once

#include <string>

#include "proto/base/result.h"
#include "proto/content/manifest.h"

namespace firn::app {

struct FileStamp {
  std::string digest;         // SHA-256 over all files and links
  bool as_described = false;  // sizes, times and targets are those of the manifest
};

// Of the content that stands in `dir`, as store::OpenOptions::as says. Blocks; any thread. Errors:
// as errno says; a missing file is none, and not as described.
Result<FileStamp> stamp_files(const Info& info, const std::string& as, const std::string& dir);

}  // namespace firn::app
