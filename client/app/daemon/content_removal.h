// Deletes what the disk holds of a content.
#pragma once

#include "client/app/daemon/kept_content.h"
#include "proto/base/result.h"

namespace firn::app {

// The content's work folder; and, if it was complete or is only served, the files that its manifest
// names, with the folders that are empty then. Files under those names are somebody else's while a
// download is not complete, and stay. Never follows links; what is missing is fine.
// Blocks; any thread. No session may use the content. Errors: kExists (another process downloads
// it), others as errno says; what can be deleted is deleted all the same.
Status delete_content(const KeptContent& content);

}  // namespace firn::app
