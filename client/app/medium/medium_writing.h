// Writes a content to a medium file.
#pragma once

#include <cstdint>
#include <string>

#include "client/app/medium/content_rows.h"
#include "client/medium/label.h"
#include "proto/content/manifest.h"

namespace firn::app {

// The content's files stand at `place`. `label` is that of a plan for this manifest; its content id
// is set here. The result: bytes written to `path`. Errors: ContentRows', MediumOutput's.
Result<std::uint64_t> write_medium(const Manifest& manifest, const content::ContentPlace& place,
                                   const medium::Label& label, const std::string& path,
                                   const ContentRows::Watch& watch);

}  // namespace firn::app
