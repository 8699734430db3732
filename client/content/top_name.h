// The top name of a content on disk: that of its single file, or of its folder, in the folder that
// it is downloaded into. It is the manifest's name, or another that the user chose (--as).
#pragma once

#include <cstdint>
#include <string>

#include "proto/content/manifest.h"

namespace firn::content {

// `as`: the name that the user chose; empty: none.
const std::string& top_name(const Info& info, const std::string& as);

// Where the bytes of a file lie for a DIR given on the command line: DIR/<top name>[/<file path>].
// DIR may be empty: then the path is relative.
std::string final_path(const Info& info, const std::string& as, const std::string& dir,
                       std::uint32_t file);

}  // namespace firn::content
