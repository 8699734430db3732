// How a file, empty folder or link at its final path differs from what the manifest says.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "client/store/content_files.h"
#include "client/store/files.h"
#include "proto/content/manifest.h"

namespace firn::store {

struct FileMismatch {
  enum class Kind : std::uint8_t {
    kMissing,
    kShort,       // fewer bytes than it should have
    kLong,        // more
    kChanged,     // other bytes, or a link to somewhere else
    kUnfinished,  // missing, as its download is not complete
    kKind,        // a folder, link or device where a file should be, or the other way round
  };
  std::uint32_t file = 0;  // index into Info::files
  Kind kind = Kind::kMissing;
  std::uint64_t bytes_there = 0;  // of kShort and kLong
  std::string parent = {};        // of kKind: what stands where a folder above it should be, with
                                  // the content's top name; empty: the file itself is meant
};

// One word for people and for --json: "missing", "short", "long", "changed", "unfinished",
// "in the way".
const char* mismatch_name(FileMismatch::Kind kind);

// What is wrong with file `file` at its final path as far as its kind and size tell; nullopt if
// they fit. Reads no bytes, but a link's target. Errors: the disk's.
Result<std::optional<FileMismatch>> look_at_final_path(Files& files, const ContentFiles& content,
                                                       const Info& info, std::uint32_t file);

// Whether a file that stands finished has the right bytes. `verified`: which generations of the
// content are right as a whole. The file's own digest is asked, and the file read, only where a
// generation that is not right belongs to other files too. kCancelled when `cancelled` (may be
// empty) says so.
Result<bool> finished_file_is_right(const ContentFiles& content, const Info& info,
                                    std::uint32_t file, const std::vector<bool>& verified,
                                    const std::function<bool()>& cancelled);

// "a.txt (changed), b.txt (short: 3 of 10 bytes) and 5 more". A parent in the way is named once, in
// the place of all that should be below it.
std::string list_mismatches(const ContentFiles& content, const Info& info,
                            std::span<const FileMismatch> faults);

}  // namespace firn::store
