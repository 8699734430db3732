// Where a program keeps a user's files: the XDG Base Directory Specification 0.8. Paths are
// absolute; variables with relative ones are ignored, as it says.
#pragma once

#include <string>

#include "proto/base/result.h"

namespace firn {

// $XDG_CONFIG_HOME, else ~/.config; empty: HOME is not set either.
std::string user_config_folder();
// $XDG_STATE_HOME, else ~/.local/state; likewise.
std::string user_state_folder();
// $XDG_RUNTIME_DIR, or empty.
std::string user_runtime_folder();
// Where the user's desktop keeps downloads: XDG_DOWNLOAD_DIR in user-dirs.dirs (xdg-user-dirs) of
// user_config_folder(), else ~/Downloads; empty: HOME is not set.
std::string user_download_folder();

// A folder for its owner alone (0700), in one that is made as folders are. One that stands is kept
// as it is. Errors: as errno says.
Status make_private_folder(const std::string& path);

}  // namespace firn
