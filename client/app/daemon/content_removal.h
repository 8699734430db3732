// Deletes what the disk holds of a content.
#pragma once

#include "client/app/daemon/kept_content.h"
#include "proto/base/result.h"

namespace firn::app {

// Deletes the content's work folder and the files and links that its manifest names in `folder`,
// with the folders that are empty then: all, if the content was whole and right at some time, else
// those that its download has finished. A file that has other bytes now, or that stood in a
// download's way, is the user's own and stays; a missing one is no error. Of a
// download that never got its name, and so has no work folder, there are no files. Below `folder`
// no link is followed. After a failure the other files are still deleted, and the work folder
// stays. Blocks; any thread. No session may use the content. Errors: kExists (another process
// downloads it), others as errno says.
Status delete_content(const KeptContent& content);

}  // namespace firn::app
