// The codec's batch operations on data that is already on a device. A batch is a number of
// generations of one shape, each with its own coefficients:
//   launch_product       out[g] = C[g] B[g]       C: m x n, B: n x k, out: m x k: encode and recode
//   launch_inverse       V[g] = C[g]^-1           n x n, and which rows of C[g] depend on others
//   launch_decode        X[g] = C[g]^-1 Y[g]      the two together; X in source-block order
//   launch_coefficients  C[g] from a seed, the same bytes as codec/random.h
//   launch_tags          H of every block of B[g], the hash of block checks (codec/check_key.h)
// Arithmetic is in GF(2^8) as in codec/gf256.h; results are equal byte for byte to the CPU's.
//
// Each call queues kernels on the stream and returns: it takes no memory and waits for nothing.
// All pointers are to memory of the stream's device, and must stay valid, with nothing else writing
// there, until the stream has passed the call. Outputs and scratch must not overlap anything else.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/product/path.h"
#include "cuda_kernels/runtime/status.h"
#include "cuda_kernels/runtime/stream.h"

namespace firn::cuda {

// n; m and k have the bounds of kernels' 32-bit indices, which no memory of today reaches.
inline constexpr std::size_t kGenerationSizeMax = 1024;
inline constexpr std::size_t kRowsMax = std::size_t{1} << 20;
inline constexpr std::size_t kBlockBytesMax = std::size_t{1} << 30;

// Blocks of `block_bytes` bytes, `pitch` >= block_bytes apart; the blocks of a generation follow
// each other, and generation follows generation. Bytes between blocks are never written.
struct Blocks {
  std::uint8_t* data = nullptr;
  std::size_t pitch = 0;
};
struct ConstBlocks {
  const std::uint8_t* data = nullptr;
  std::size_t pitch = 0;

  ConstBlocks() = default;
  ConstBlocks(const std::uint8_t* blocks, std::size_t bytes_apart)
      : data(blocks), pitch(bytes_apart) {}
  ConstBlocks(const Blocks& blocks) : data(blocks.data), pitch(blocks.pitch) {}
};

// The pitch that lets every kernel run: block_bytes rounded up to a multiple of 16.
constexpr std::size_t fast_pitch(std::size_t block_bytes) {
  return (block_bytes + 15) / 16 * 16;
}

struct Shape {
  std::size_t generations = 0;
  std::size_t generation_size = 0;  // n, source blocks in a generation, 1..kGenerationSizeMax
  std::size_t rows = 0;             // m, blocks made from each generation, >= 1
  std::size_t block_bytes = 0;      // k, >= 1
};

// Memory that a call may use until the stream has passed it. At least the _min bytes; with less
// than the other figure a batch is worked on in slices that fit. Zero where none is needed.
struct Scratch {
  std::uint8_t* data = nullptr;  // 256-byte aligned
  std::size_t bytes = 0;
};
struct ScratchSize {
  std::size_t least = 0;
  std::size_t best = 0;
};

// coefficients: generations x m x n bytes, row-major, without gaps, any alignment.
ScratchSize product_scratch(const Device& device, const Shape& shape, Path path = Path::kBest);
Status launch_product(Stream& stream, const Shape& shape, const std::uint8_t* coefficients,
                      ConstBlocks source, Blocks out, Scratch scratch, Path path = Path::kBest);

// What is found out about each matrix. ranks: one per generation, n if it could be inverted.
// dependent (may be null): n bytes per generation, 1 where the row is a linear combination of rows
// above it (so exactly n - rank of them are 1, and these are the rows to replace), else 0.
struct Ranks {
  std::uint32_t* ranks = nullptr;
  std::uint8_t* dependent = nullptr;
};

// matrices, inverses: generations x n x n bytes. The inverse of a singular matrix is undefined.
ScratchSize inverse_scratch(const Device& device, std::size_t generations,
                            std::size_t generation_size);
Status launch_inverse(Stream& stream, std::size_t generations, std::size_t generation_size,
                      const std::uint8_t* matrices, std::uint8_t* inverses, Ranks ranks,
                      Scratch scratch);

// vectors: generations x n x n bytes, the coding vectors of the payloads in the payloads' order.
// shape.rows is not read (it is n). The output of a generation of lower rank is undefined.
ScratchSize decode_scratch(const Device& device, const Shape& shape, Path path = Path::kBest);
Status launch_decode(Stream& stream, const Shape& shape, const std::uint8_t* vectors,
                     ConstBlocks payloads, Blocks out, Ranks ranks, Scratch scratch,
                     Path path = Path::kBest);

// Generation g's `bytes` bytes are those of CoefficientStream(seed, first_stream + g) from
// `position` (a multiple of 64) on, as its fill() gives them; they are written without gaps.
Status launch_coefficients(Stream& stream, std::uint64_t seed, std::uint64_t first_stream,
                           std::uint64_t position, std::size_t generations, std::size_t bytes,
                           std::uint8_t* out);

// tags[g][i] = H(block i of generation g), under the key that is made from keys[g] (material of
// codec::CheckKey): what codec::CheckSums makes for each generation. keys: generations x
// CheckKey::material_bytes(k, tag_bytes), 16-byte aligned; tags: generations x n x tag_bytes,
// 4-byte aligned; no gaps in either. tag_bytes: 4, 8 or 16. Blocks of any alignment, faster where
// pointer and pitch are multiples of 16. shape.rows is not read. Keys and tags are secret: the
// caller wipes both. kUnsupported on a device without binary mma.sync.
Status launch_tags(Stream& stream, const Shape& shape, std::size_t tag_bytes,
                   const std::uint8_t* keys, ConstBlocks blocks, std::uint8_t* tags);

}  // namespace firn::cuda
