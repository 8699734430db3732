// How a content's bytes lie in generations and files.
#pragma once

#include <cstdint>
#include <vector>

#include "proto/content/manifest.h"

namespace firn::content {

// A run of content bytes inside one file.
struct FileSpan {
  std::uint32_t file = 0;  // index into Info::files
  std::uint64_t file_offset = 0;
  std::uint64_t content_offset = 0;
  std::uint64_t bytes = 0;
};

// The files' parts that content bytes [offset, offset + bytes) cover, in order; empty files have
// none. O(log files + result).
std::vector<FileSpan> spans_of(const Info& info, std::uint64_t offset, std::uint64_t bytes);
// Those that a generation covers.
std::vector<FileSpan> spans_of(const Info& info, std::uint32_t generation);

// Generations that hold bytes of file `file`: [first, last); first == last for an empty file.
struct GenerationRange {
  std::uint32_t first = 0;
  std::uint32_t last = 0;
};
GenerationRange generations_of(const Info& info, std::uint32_t file);

// A choice of files: a flag for each entry of Info::files; empty: all of them.
inline bool is_chosen(const std::vector<bool>& chosen, std::uint32_t file) {
  return chosen.empty() || chosen[file];
}
bool all_chosen(const std::vector<bool>& chosen);
// Per generation: whether it is wanted, as it holds bytes of a chosen file. All if all are chosen.
std::vector<bool> wanted_generations(const Info& info, const std::vector<bool>& chosen);
// How many bytes of file `file` lie in these generations.
std::uint64_t bytes_in(const Info& info, std::uint32_t file, const std::vector<bool>& generations);

// A layout may need more generations than its bytes would fill: kBadInput if they are too many.
Status check_generation_count(const Shape& shape);

// n and k for a content of `content_bytes`; 0 in an argument: choose it. Reasons in
// docs/formats.md. Errors: kBadInput when a wish is out of bounds (limits.h) or gives too many
// generations.
Result<Shape> choose_shape(std::uint64_t content_bytes, std::uint32_t generation_size = 0,
                           std::uint32_t block_bytes = 0);

}  // namespace firn::content
