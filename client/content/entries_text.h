// How a content's entries are counted for people: files, folders and links apart.
#pragma once

#include <cstddef>
#include <span>
#include <string>

#include "proto/content/manifest.h"

namespace firn::content {

// "1 file", "3 files, 1 folder and 2 links".
std::string entries_text(std::span<const FileEntry> entries);

// "2 of 5 files", "2 of 5 files, folders and links": whichever kinds `entries` has; "the folder" if
// it has none.
std::string part_of_entries(std::size_t count, std::span<const FileEntry> entries);

}  // namespace firn::content
