// Internal: the launcher of tags.cu. hash.cc has checked the arguments and says how a batch is cut.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

inline constexpr int kTagStep = 256;  // positions that a block of threads brings at once

// tags[g][i] ^= H of block i of generation g: tags begin as zeros, and pieces of a block that
// different blocks of threads take add up there.
struct TagJob {
  const std::uint8_t* keys;    // generations x (16 ceil(k / 128) + 256 tag_bytes), 16-byte aligned
  const std::uint8_t* blocks;  // n of k bytes for each generation, `pitch` apart
  std::uint8_t* tags;          // generations x n x tag_bytes, 4-byte aligned
  std::size_t pitch;
  int n, k, tag_bytes;  // tag_bytes: 4, 8 or 16
  int generations;
  // Blocks of threads are generations x chunks (of 32 << warps_shift blocks) x passes (of 8 bytes
  // of the tag, or 4) x splits (of `steps` steps).
  int warps_shift;  // 1, 2 or 3
  int chunks, passes, splits, steps;
  bool aligned;  // pointer and pitch of blocks are multiples of 16
};

// `stream`: a cudaStream_t of the current device, which has binary mma.sync.
Status launch_tag_hash(const TagJob& job, void* stream);

}  // namespace firn::cuda
