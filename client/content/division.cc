#include "client/content/division.h"

#include <algorithm>

#include "proto/base/limits.h"

namespace firn::content {
namespace {

constexpr std::uint64_t kKiB = 1024;
constexpr std::uint64_t kMiB = 1024 * kKiB;

// Rows of the ladder: the largest shape whose `content_bytes_min` is reached is taken. From the
// second on generations are of 64 blocks, and there are at least four: fewer blocks cost a swarm
// more by redundant ones and States than fewer generations do (docs/lab/065).
struct Step {
  std::uint64_t content_bytes_min;
  std::uint32_t generation_size;
  std::uint32_t block_bytes;
};
constexpr Step kLadder[] = {{0, 16, 1 * kKiB},
                            {kMiB / 2, 64, 2 * kKiB},
                            {1 * kMiB, 64, 4 * kKiB},
                            {4 * kMiB, 64, 8 * kKiB},
                            {16 * kMiB, 64, 16 * kKiB}};

constexpr std::uint64_t kGenerationsWanted = 1 << 17;  // at most, where the limits allow it
constexpr std::uint64_t kBlockBytesGrown = 256 * kKiB;
constexpr std::uint64_t kGenerationSizeGrown = 256;
constexpr std::uint64_t kBlockBytesLeast = 1 * kKiB;
constexpr std::uint64_t kGenerationSizeLeast = 16;

std::uint64_t divide_up(std::uint64_t a, std::uint64_t b) {
  return a / b + (a % b != 0);
}

Error bad_shape(std::uint64_t n, std::uint64_t k, std::string detail) {
  return {ErrorCode::kBadInput,
          "generations of " + std::to_string(n) + " blocks of " + std::to_string(k) + " bytes",
          std::move(detail)};
}

Error too_many_generations(std::uint64_t n, std::uint64_t k, std::uint64_t content_bytes) {
  return bad_shape(n, k,
                   std::to_string(content_bytes) + " bytes would make more than " +
                       std::to_string(limits::kGenerationCountMax) +
                       " generations; choose larger blocks or generations");
}

}  // namespace

std::vector<FileSpan> spans_of(const Info& info, std::uint64_t offset, std::uint64_t bytes) {
  std::vector<FileSpan> spans;
  if (bytes == 0) return spans;
  // The last file that starts at or before `offset`; of several there, all but the last are empty.
  auto file =
      std::upper_bound(info.files.begin(), info.files.end(), offset,
                       [](std::uint64_t at, const FileEntry& entry) { return at < entry.offset; });
  if (file != info.files.begin()) --file;
  for (; file != info.files.end() && bytes > 0; ++file) {
    const std::uint64_t skip = offset - file->offset;
    if (file->bytes <= skip) continue;
    FileSpan span;
    span.file = static_cast<std::uint32_t>(file - info.files.begin());
    span.file_offset = skip;
    span.content_offset = offset;
    span.bytes = std::min(bytes, file->bytes - skip);
    offset += span.bytes;
    bytes -= span.bytes;
    spans.push_back(span);
  }
  return spans;
}

std::vector<FileSpan> spans_of(const Info& info, std::uint32_t generation) {
  return spans_of(info, generation * info.shape.generation_bytes(),
                  info.shape.bytes_in_generation(generation));
}

GenerationRange generations_of(const Info& info, std::uint32_t file) {
  const FileEntry& entry = info.files.at(file);
  const std::uint64_t generation_bytes = info.shape.generation_bytes();
  if (entry.bytes == 0 || generation_bytes == 0) return {};
  return {static_cast<std::uint32_t>(entry.offset / generation_bytes),
          static_cast<std::uint32_t>((entry.offset + entry.bytes - 1) / generation_bytes) + 1};
}

bool all_chosen(const std::vector<bool>& chosen) {
  return std::ranges::find(chosen, false) == chosen.end();
}

std::vector<bool> wanted_generations(const Info& info, const std::vector<bool>& chosen) {
  FIRN_CHECK(chosen.empty() || chosen.size() == info.files.size());
  std::vector<bool> wanted(info.shape.generation_count(), all_chosen(chosen));
  for (std::uint32_t file = 0; file < info.files.size(); ++file) {
    if (!is_chosen(chosen, file)) continue;
    const GenerationRange range = generations_of(info, file);
    std::fill(wanted.begin() + range.first, wanted.begin() + range.last, true);
  }
  return wanted;
}

std::uint64_t bytes_in(const Info& info, std::uint32_t file, const std::vector<bool>& generations) {
  const FileEntry& entry = info.files[file];
  const std::uint64_t generation_bytes = info.shape.generation_bytes();
  const GenerationRange range = generations_of(info, file);
  std::uint64_t bytes = 0;
  for (std::uint32_t g = range.first; g < range.last; ++g) {
    if (!generations[g]) continue;
    const std::uint64_t begin = g * generation_bytes;
    bytes += std::min(begin + generation_bytes, entry.offset + entry.bytes) -
             std::max(begin, entry.offset);
  }
  return bytes;
}

Status check_generation_count(const Shape& shape) {
  if (shape.generation_count() <= limits::kGenerationCountMax) return Done{};
  return too_many_generations(shape.generation_size, shape.block_bytes, shape.content_bytes);
}

Result<Shape> choose_shape(std::uint64_t content_bytes, std::uint32_t generation_size,
                           std::uint32_t block_bytes) {
  const Step* step = kLadder;
  for (const Step& candidate : kLadder) {
    if (content_bytes >= candidate.content_bytes_min) step = &candidate;
  }
  // Very large contents: longer blocks first (they cost nothing in coding), then more of them.
  std::uint64_t n = step->generation_size;
  std::uint64_t k = step->block_bytes;
  const auto too_many = [&] { return divide_up(content_bytes, n * k) > kGenerationsWanted; };
  while (too_many() && k < kBlockBytesGrown) k *= 2;
  while (too_many() && n < kGenerationSizeGrown) n *= 2;

  // A wish for one keeps the generation's bytes and chooses the other.
  const std::uint64_t wanted_bytes = n * k;
  if (generation_size != 0) n = generation_size;
  if (block_bytes != 0) k = block_bytes;
  if (n > limits::kGenerationSizeMax || k > limits::kBlockBytesMax) {
    return bad_shape(n, k,
                     "at most " + std::to_string(limits::kGenerationSizeMax) + " blocks of " +
                         std::to_string(limits::kBlockBytesMax) + " bytes are allowed");
  }
  if (generation_size != 0 && block_bytes == 0) {
    k = std::clamp<std::uint64_t>(wanted_bytes / n, kBlockBytesLeast,
                                  limits::kGenerationBytesMax / n);
  } else if (block_bytes != 0 && generation_size == 0) {
    n = std::clamp<std::uint64_t>(wanted_bytes / k, kGenerationSizeLeast, kGenerationSizeGrown);
  }
  if (n * k > limits::kGenerationBytesMax) {
    return bad_shape(
        n, k,
        "a generation may have at most " + std::to_string(limits::kGenerationBytesMax) + " bytes");
  }
  if (divide_up(content_bytes, n * k) > limits::kGenerationCountMax)
    return too_many_generations(n, k, content_bytes);
  return Shape{static_cast<std::uint32_t>(n), static_cast<std::uint32_t>(k), content_bytes};
}

}  // namespace firn::content
