// Where the files of a content stand in it (docs/formats.md, "Content"). Which bytes of which files
// a generation has: client/content/division.h.
#pragma once

#include "proto/content/manifest.h"

namespace firn {

// Gives every file its offset and the shape its table of filled generations. Files follow one
// another in the order of `info.files`; one of a generation's bytes or more begins at a generation
// boundary, so that its generations are its own but for the last, which smaller files may share.
// The files' sizes must add up to at most limits::kGenerationCountMax generations.
void lay_out(Info& info);

}  // namespace firn
