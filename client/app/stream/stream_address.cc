#include "client/app/stream/stream_address.h"

#include <algorithm>
#include <charconv>

#include "proto/base/percent.h"

namespace firn::app {
namespace {

constexpr std::string_view kStream = "/stream/";
constexpr std::string_view kFile = "/file/";
constexpr std::string_view kPlaylist = "/playlist/";
constexpr std::string_view kPlaylistEnd = ".m3u8";
// ffmpeg takes 4096 bytes.
constexpr std::size_t kUrlBytesMax = 2048;

std::string url(const StreamAddress& at, std::string_view path) {
  return at.server + std::string(path.substr(1)) + "?token=" + at.token;
}

}  // namespace

std::string StreamAddress::playlist() const {
  return url(*this, std::string(kPlaylist) + content.text() + std::string(kPlaylistEnd));
}

std::string StreamAddress::file(std::string_view path) const {
  return url(*this, std::string(kStream) + content.text() + "/" + percent_encode(path, "/"));
}

std::string StreamAddress::file(const Info& info, std::size_t file) const {
  std::string by_path = this->file(shown_path(info, info.files[file]));
  if (by_path.size() <= kUrlBytesMax) return by_path;
  return url(*this, std::string(kFile) + content.text() + "/" + std::to_string(file + 1));
}

std::optional<StreamPath> parse_stream_path(std::string_view path) {
  StreamPath parsed;
  if (path.starts_with(kPlaylist) && path.ends_with(kPlaylistEnd)) {
    path.remove_prefix(kPlaylist.size());
    path.remove_suffix(kPlaylistEnd.size());
  } else if (path.starts_with(kStream)) {
    path.remove_prefix(kStream.size());
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos || slash + 1 == path.size()) return std::nullopt;
    parsed.file = path.substr(slash + 1);
    path = path.substr(0, slash);
  } else if (path.starts_with(kFile)) {
    path.remove_prefix(kFile.size());
    const std::size_t slash = std::min(path.find('/'), path.size());
    const std::string_view number = path.substr(std::min(slash + 1, path.size()));
    const char* const end = number.data() + number.size();
    const auto [at, error] = std::from_chars(number.data(), end, parsed.number);
    if (error != std::errc() || at != end || parsed.number == 0) return std::nullopt;
    path = path.substr(0, slash);
  } else {
    return std::nullopt;
  }
  const auto content = ContentId::from_text(path);
  if (!content) return std::nullopt;
  parsed.content = *content;
  return parsed;
}

const std::string& shown_path(const Info& info, const FileEntry& entry) {
  return entry.path.empty() ? info.name : entry.path;
}

}  // namespace firn::app
