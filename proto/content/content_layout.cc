#include "proto/content/content_layout.h"

namespace firn {
namespace {

// Calls gap(first, bytes) for each generation that is left short of bytes, and returns the position
// after the last file.
template <typename Gap>
std::uint64_t place_files(Info& info, Gap&& gap) {
  const std::uint64_t each = info.shape.generation_bytes();
  std::uint64_t position = 0;
  for (FileEntry& file : info.files) {
    const std::uint64_t used = each == 0 ? 0 : position % each;
    if (used > 0 && file.bytes >= each) {
      gap(position / each, used);
      position += each - used;
    }
    file.offset = position;
    position += file.bytes;
  }
  return position;
}

}  // namespace

void lay_out(Info& info) {
  Shape& shape = info.shape;
  shape.filled.reset();
  std::vector<std::pair<std::uint64_t, std::uint64_t>> gaps;
  const std::uint64_t end =
      place_files(info, [&](std::uint64_t g, std::uint64_t used) { gaps.emplace_back(g, used); });
  if (gaps.empty()) return;
  const std::uint64_t each = shape.generation_bytes();
  auto filled = std::make_shared<std::vector<std::uint32_t>>((end + each - 1) / each,
                                                             static_cast<std::uint32_t>(each));
  if (end % each != 0) filled->back() = static_cast<std::uint32_t>(end % each);
  for (const auto& [g, used] : gaps) (*filled)[g] = static_cast<std::uint32_t>(used);
  shape.filled = std::move(filled);
}

}  // namespace firn
