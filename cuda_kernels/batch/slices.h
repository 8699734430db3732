// Internal: how batches are cut into launches and scratch memory, and what bounds their shapes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

// Generations in one launch: a grid's y and z end at 65535.
inline constexpr std::size_t kGenerationsMax = 32768;
// Scratch memory beyond this makes nothing faster: slices of this size fill a device.
inline constexpr std::size_t kScratchEnough = std::size_t{512} << 20;

// Whether kernels may read every block in pieces of 16 bytes.
inline bool aligned_blocks(ConstBlocks blocks) {
  return (reinterpret_cast<std::uintptr_t>(blocks.data) | blocks.pitch) % 16 == 0;
}

constexpr std::size_t round_up(std::size_t value, std::size_t to) {
  return (value + to - 1) / to * to;
}

// Bytes of scratch for `generations`, of which each takes `each`: all at once, or a fair slice.
inline ScratchSize scratch_for(std::size_t generations, std::size_t each) {
  if (generations == 0 || each == 0) return {};
  const std::size_t at_once =
      std::min(generations, std::max<std::size_t>(1, kScratchEnough / each));
  return {round_up(each, 256), round_up(each, 256) * at_once};
}

// How many generations go into one launch if each takes `each` bytes of scratch; 0 if not even one.
inline std::size_t slice_size(std::size_t generations, std::size_t each,
                              std::size_t scratch_bytes) {
  std::size_t slice = std::min(generations, kGenerationsMax);
  if (each > 0) slice = std::min(slice, scratch_bytes / each);
  return slice;
}

inline Status too_little_scratch(std::size_t each) {
  return unsupported("scratch memory: a generation needs " + std::to_string(each) + " bytes");
}

inline Status check_size(std::size_t n) {
  if (n >= 1 && n <= kGenerationSizeMax) return {};
  return unsupported("a generation has 1 to 1024 blocks, not " + std::to_string(n));
}

inline Status check_shape(const Shape& shape) {
  if (Status s = check_size(shape.generation_size); !s.ok()) return s;
  if (shape.rows < 1 || shape.rows > kRowsMax) return unsupported("number of rows out of range");
  if (shape.block_bytes < 1 || shape.block_bytes > kBlockBytesMax) {
    return unsupported("block size out of range");
  }
  return {};
}

}  // namespace firn::cuda
