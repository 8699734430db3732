// What a stream says that a file is: by its name, as nobody has read the file yet.
#pragma once

#include <string_view>

namespace firn::app {

struct MediaType {
  enum class Kind {
    kPlayed,  // audio and video: what playlists list
    kShown,   // raster images and plain text
    kOther,   // to be saved: a browser must not open what a stranger named so
  };
  std::string_view name;  // of the header Content-Type
  Kind kind = Kind::kOther;
};

// What can hold a script is of kOther, SVG and XML included.
MediaType media_type(std::string_view path);

}  // namespace firn::app
