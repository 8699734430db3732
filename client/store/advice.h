// What the files at a content's final paths are, if they are not the content: what to do depends on
// it.
#pragma once

#include <string>
#include <vector>

#include "client/store/file_mismatch.h"
#include "client/store/files.h"
#include "proto/content/manifest.h"

namespace firn::store {

// Whether files stand there and not one fits, by generations or by themselves: then it is another
// content of that name, and repairing would fetch all of this one. A sample of both is read. `as`:
// as OpenOptions::as.
bool looks_foreign(Files& files, const Info& info, const std::string& as);

// Whether nothing bears the content's top name.
bool is_absent(Files& files, const ContentFiles& content);

// Whether a download of this content was begun below the folder of `files` and is not complete.
bool is_unfinished(Files& files, const ContentId& content);

// Marks files that are missing as on their way, where is_unfinished().
void mark_unfinished(Files& files, const ContentId& content, std::vector<FileMismatch>& faults);

inline constexpr const char* kAbsentAdvice =
    "nothing there has its name; if it has another one there, give that with --as";
inline constexpr const char* kForeignAdvice =
    "nothing there fits, so it looks like another content of that name";

}  // namespace firn::store
