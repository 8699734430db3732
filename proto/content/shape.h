// How a content is cut: into generations of `generation_size` source blocks of `block_bytes` each.
//
// Positions count bytes from the content's first generation on. Generation g covers the positions
// from g * n * k to (g + 1) * n * k, and its bytes lie at its beginning: it is full, or what
// follows its bytes is padding. A generation has source blocks only as far as its bytes reach, so
// padding never takes more than a part of its last block; that part is zeros, which no file gets.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace firn {

struct Shape {
  std::uint32_t generation_size = 0;  // n, blocks in a full generation
  std::uint32_t block_bytes = 0;      // k
  std::uint64_t content_bytes = 0;    // the sum of the files' sizes
  // Bytes in each generation, where files that begin at generation boundaries leave some short.
  // Null: all are full but the last one. lay_out() (proto/content/content_layout.h) makes it.
  std::shared_ptr<const std::vector<std::uint32_t>> filled = nullptr;

  std::uint64_t generation_bytes() const { return std::uint64_t{generation_size} * block_bytes; }

  std::uint32_t generation_count() const {
    if (filled) return static_cast<std::uint32_t>(filled->size());
    const std::uint64_t each = generation_bytes();
    return each == 0 ? 0 : static_cast<std::uint32_t>((content_bytes + each - 1) / each);
  }

  // Content bytes (without padding) in generation g.
  std::uint64_t bytes_in_generation(std::uint32_t g) const {
    if (filled) return (*filled)[g];
    const std::uint64_t rest = content_bytes - g * generation_bytes();
    return rest < generation_bytes() ? rest : generation_bytes();
  }

  // Source blocks of generation g: n, or fewer where its bytes end earlier.
  std::uint32_t blocks_in(std::uint32_t g) const {
    const std::uint64_t bytes = bytes_in_generation(g);
    if (bytes == generation_bytes()) return generation_size;
    return static_cast<std::uint32_t>((bytes + block_bytes - 1) / block_bytes);
  }

  // Bytes of generation g as they are coded and hashed: whole blocks.
  std::uint64_t padded_bytes(std::uint32_t g) const {
    return std::uint64_t{blocks_in(g)} * block_bytes;
  }

  // Source blocks of all generations.
  std::uint64_t block_count() const {
    std::uint64_t sum = 0;
    if (!filled) {
      const std::uint32_t count = generation_count();
      return count == 0 ? 0 : std::uint64_t{count - 1} * generation_size + blocks_in(count - 1);
    }
    for (std::uint32_t g = 0; g < filled->size(); ++g) sum += blocks_in(g);
    return sum;
  }

  bool operator==(const Shape& other) const {
    return generation_size == other.generation_size && block_bytes == other.block_bytes &&
           content_bytes == other.content_bytes &&
           (filled == other.filled || (filled && other.filled && *filled == *other.filled));
  }
};

}  // namespace firn
