#include "client/app/stream/playlist.h"

#include <algorithm>

#include "client/app/stream/media_type.h"
#include "proto/base/plain_text.h"

namespace firn::app {

std::vector<std::size_t> played_files(const Info& info,
                                      const std::function<bool(std::size_t)>& chosen) {
  std::vector<std::size_t> files;
  for (std::size_t i = 0; i < info.files.size(); ++i)
    if (info.files[i].kind == FileEntry::Kind::kFile && chosen(i)) files.push_back(i);
  std::vector<std::size_t> played;
  std::ranges::copy_if(files, std::back_inserter(played), [&](std::size_t i) {
    return media_type(shown_path(info, info.files[i])).kind == MediaType::Kind::kPlayed;
  });
  if (played.empty()) played = std::move(files);
  std::ranges::sort(played, {},
                    [&](std::size_t i) -> const std::string& { return info.files[i].path; });
  return played;
}

std::vector<PlaylistEntry> entries_of(const Info& info, const std::vector<std::size_t>& files,
                                      const StreamAddress& at) {
  std::vector<PlaylistEntry> entries;
  for (const std::size_t i : files)
    entries.push_back({shown_path(info, info.files[i]), at.file(info, i)});
  return entries;
}

std::string playlist_text(const std::vector<PlaylistEntry>& entries) {
  std::string text = "#EXTM3U\n";
  for (const PlaylistEntry& entry : entries)  // -1: how long it plays is not known
    text += "#EXTINF:-1," + escaped(entry.path) + "\n" + entry.url + "\n";
  return text;
}

}  // namespace firn::app
