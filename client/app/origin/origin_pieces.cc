#include "client/app/origin/origin_pieces.h"

#include "client/content/division.h"

namespace firn::app {

std::vector<OriginPiece> origin_pieces(const Info& info, std::uint32_t first, std::uint32_t count) {
  std::vector<OriginPiece> pieces;
  std::uint64_t at = 0;
  for (std::uint32_t g = first; g < first + count; ++g) {
    for (const content::FileSpan& span : content::spans_of(info, g)) {
      const bool goes_on = !pieces.empty() && pieces.back().file == span.file;
      if (goes_on) {
        pieces.back().range.count += span.bytes;
      } else {
        pieces.push_back({span.file, {span.file_offset, span.bytes}, at});
      }
      at += span.bytes;
    }
  }
  return pieces;
}

Status check_origin_fits(const OriginUrl& origin, const Info& info) {
  if (info.single_file || origin.is_folder()) return Done{};
  return Error{ErrorCode::kBadInput, "fetch from " + origin.shown(),
               info.name +
                   " is a folder, and the URL of a folder ends in '/': add it, if the files "
                   "lie below that URL under their paths"};
}

OriginUrl origin_file(const OriginUrl& origin, const Info& info, std::uint32_t file) {
  if (!info.single_file) return origin.file(info.files[file].path);
  return origin.is_folder() ? origin.file(info.name) : origin;
}

}  // namespace firn::app
