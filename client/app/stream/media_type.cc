#include "client/app/stream/media_type.h"

#include <algorithm>
#include <string>

#include "proto/base/plain_text.h"

namespace firn::app {
namespace {

using Kind = MediaType::Kind;

struct Ending {
  std::string_view text;
  MediaType type;
};

constexpr Ending kEndings[] = {
    {"3gp", {"video/3gpp", Kind::kPlayed}},
    {"avi", {"video/x-msvideo", Kind::kPlayed}},
    {"flv", {"video/x-flv", Kind::kPlayed}},
    {"m2ts", {"video/mp2t", Kind::kPlayed}},
    {"m4v", {"video/mp4", Kind::kPlayed}},
    {"mkv", {"video/x-matroska", Kind::kPlayed}},
    {"mov", {"video/quicktime", Kind::kPlayed}},
    {"mp4", {"video/mp4", Kind::kPlayed}},
    {"mpeg", {"video/mpeg", Kind::kPlayed}},
    {"mpg", {"video/mpeg", Kind::kPlayed}},
    {"ogv", {"video/ogg", Kind::kPlayed}},
    {"ts", {"video/mp2t", Kind::kPlayed}},
    {"webm", {"video/webm", Kind::kPlayed}},
    {"wmv", {"video/x-ms-wmv", Kind::kPlayed}},

    {"aac", {"audio/aac", Kind::kPlayed}},
    {"aif", {"audio/aiff", Kind::kPlayed}},
    {"aiff", {"audio/aiff", Kind::kPlayed}},
    {"flac", {"audio/flac", Kind::kPlayed}},
    {"m4a", {"audio/mp4", Kind::kPlayed}},
    {"m4b", {"audio/mp4", Kind::kPlayed}},
    {"mka", {"audio/x-matroska", Kind::kPlayed}},
    {"mp3", {"audio/mpeg", Kind::kPlayed}},
    {"oga", {"audio/ogg", Kind::kPlayed}},
    {"ogg", {"audio/ogg", Kind::kPlayed}},
    {"opus", {"audio/ogg", Kind::kPlayed}},
    {"wav", {"audio/wav", Kind::kPlayed}},
    {"wma", {"audio/x-ms-wma", Kind::kPlayed}},

    {"avif", {"image/avif", Kind::kShown}},
    {"bmp", {"image/bmp", Kind::kShown}},
    {"gif", {"image/gif", Kind::kShown}},
    {"jpeg", {"image/jpeg", Kind::kShown}},
    {"jpg", {"image/jpeg", Kind::kShown}},
    {"png", {"image/png", Kind::kShown}},
    {"webp", {"image/webp", Kind::kShown}},
    {"nfo", {"text/plain; charset=utf-8", Kind::kShown}},
    {"srt", {"text/plain; charset=utf-8", Kind::kShown}},
    {"txt", {"text/plain; charset=utf-8", Kind::kShown}},
};

}  // namespace

MediaType media_type(std::string_view path) {
  constexpr MediaType kOther{"application/octet-stream", Kind::kOther};
  const std::string_view name = path.substr(path.rfind('/') + 1);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string_view::npos) return kOther;
  const std::string text = lower_case(name.substr(dot + 1));
  const auto* const found = std::ranges::find(kEndings, text, &Ending::text);
  return found == std::end(kEndings) ? kOther : found->type;
}

}  // namespace firn::app
