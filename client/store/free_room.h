// Whether the disk has room for what a download lacks.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "client/store/content_files.h"
#include "client/store/files.h"
#include "proto/content/manifest.h"

namespace firn::store {

// kDiskFull if it has not room for the wanted bytes that are missing, and for blocks on their way.
// `chosen`, `repair`: as in OpenOptions; what is to be repaired takes the room that it has.
std::optional<Error> lacking_room(Files& files, const Info& info, const ContentFiles& content,
                                  const std::vector<bool>& chosen, bool repair);
// The same for a person whose download goes on all the same.
std::string room_warning(Error lacking);

}  // namespace firn::store
