// The folders of a content, which a download makes with their modes from the start, so that nobody
// reads in one before it is closed.
//
// A folder gets what its mode at the sender allows and the receiver's umask or default ACL leaves,
// and a set-group-ID bit if the folder above it has one. Its owner may read, write and search in
// it, else the download could not go on. One that stands already is left as it is.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/store/files.h"
#include "proto/content/manifest.h"

namespace firn::store {

// What Files::make_folder() is to make the folder `path` with, one that something lies in; "" is
// the content's own.
std::uint32_t folder_mode(const Info& info, std::string_view path);
// The same of an empty one.
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
