// What a player gets of a content: which of its files, and the list of them as extended M3U in
// UTF-8.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "client/app/stream/stream_address.h"

namespace firn::app {

// Places in `info.files`, in the order of their paths, of the audio and video files that are
// `chosen`; if there is none, of all chosen files: names tell little, and one of them may be what
// is to be played.
std::vector<std::size_t> played_files(const Info& info,
                                      const std::function<bool(std::size_t)>& chosen);

struct PlaylistEntry {
  std::string path;
  std::string url;
};
// Of these places in `info.files`.
std::vector<PlaylistEntry> entries_of(const Info& info, const std::vector<std::size_t>& files,
                                      const StreamAddress& at);

// Names are strangers': they are escaped, and add no line.
std::string playlist_text(const std::vector<PlaylistEntry>& entries);

}  // namespace firn::app
