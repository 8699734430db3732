// The top name of a content on disk: that of its single file, or of its folder, in the folder that
// it is downloaded into. It is the manifest's name, or another that the user chose (--as).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "proto/base/result.h"
#include "proto/content/manifest.h"

namespace firn::content {

// Where a content stands.
struct ContentPlace {
  std::string dir;  // the folder that has its file or folder
  std::string as;   // the name that the user chose for it there; empty: the manifest's

  bool operator==(const ContentPlace&) const = default;
};

// `as`: as ContentPlace's.
const std::string& top_name(const Info& info, const std::string& as);

// " --as NAME" for a command line that is shown, or nothing.
std::string as_option(const std::string& as);

// Where the bytes of a file lie for a DIR given on the command line: DIR/<top name>[/<file path>].
// DIR may be empty: then the path is relative.
std::string final_path(const Info& info, const std::string& as, const std::string& dir,
                       std::uint32_t file);

// Why a download does not take this name from its manifest, which a stranger wrote; empty: it may.
// Programs read what begins with '.' in a user's home unasked, commands take what begins with '-'
// for options, and shells look for programs in ~/bin. Characters that show as nothing do not count,
// as some file systems ignore them too. `in_home`: the content goes into the user's home folder.
std::string_view name_fault(std::string_view name, bool in_home);

// Whether a content may be downloaded, or moved, to this place: `as` may be any name that a
// manifest may have, and the manifest's own must have no name_fault(). Errors: kBadInput (of `as`),
// kExists (the manifest's name), which says what to do. Looks at `dir`, which need not exist.
Status check_top_name(const Info& info, const ContentPlace& place);
// The same of `as` alone.
Status check_as(const std::string& as);

}  // namespace firn::content
