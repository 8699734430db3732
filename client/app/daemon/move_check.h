// Whether a content may be moved to another folder.
#pragma once

#include <optional>
#include <string>

#include "client/app/daemon/kept_content.h"
#include "client/content/top_name.h"
#include "proto/base/result.h"
#include "proto/content/manifest.h"

namespace firn::app {

// Errors: kBadInput (no absolute path, the folder that it is in, a folder within the content),
// kExists (something of its name stands there), as content::check_top_name(), others as errno says.
// Blocks for a few calls of the file system.
Status check_move(const KeptContent& content, const content::ContentPlace& to);

// What its manifest says, if there is one. Errors: kCorrupt.
Result<std::optional<Info>> info_of(const KeptContent& content);

// Something else stands at `path`.
Error taken(const std::string& operation, const std::string& path);

}  // namespace firn::app
