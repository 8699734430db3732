// The folders of a content. A download creates each folder with its final mode, so that other users
// cannot look into a private folder while the download runs.
//
// A folder gets the rights that its mode at the sender allows and the receiver's umask or default
// ACL leaves, and a set-group-ID bit if its parent folder has one. The owner may always read, write
// and search in it, else the download could not go on. A folder that exists keeps its mode.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/store/files.h"
#include "proto/content/manifest.h"

namespace firn::store {

// The mode to create a folder with. `path` names a folder that is not empty; "" is the content's
// own.
std::uint32_t folder_mode(const Info& info, std::string_view path);
// The same for an empty folder.
std::uint32_t folder_mode(const FileEntry& folder);

// Makes the folder `path` of the content and those above it, below `top`, which stands for the
// content's own folder. kExists if anything else stands there.
Status make_content_folder(Files& files, const Info& info, const std::string& top,
                           const std::string& path);

// Sets the times that the manifest has for folders, the deepest first. Last of all: what is put
// into a folder changes its time. One that is not there is passed over. False if the file system
// keeps none.
bool set_folder_times(Files& files, const Info& info, const std::string& top);

}  // namespace firn::store
