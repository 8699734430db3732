// The host side of the hash of block checks: how a batch is cut into blocks of threads.
#include <algorithm>
#include <string>

#include "codec/check_key.h"
#include "cuda_kernels/batch/batch.h"
#include "cuda_kernels/batch/slices.h"
#include "cuda_kernels/hash/launch.h"
#include "cuda_kernels/runtime/cuda_calls.h"

namespace firn::cuda {
namespace {

// What a block of threads does before its first step takes about as long as this many steps.
constexpr int kStepsToBegin = 2;
constexpr int kSplitsMax = 512;

// The splits that end first, where `slots` blocks of threads run at a time.
int best_splits(std::size_t units, int steps, std::size_t slots) {
  int best = 1;
  std::size_t best_time = SIZE_MAX;
  for (int splits = 1; splits <= std::min(steps, kSplitsMax); ++splits) {
    const auto each = static_cast<std::size_t>((steps + splits - 1) / splits + kStepsToBegin);
    const std::size_t time = (units * splits + slots - 1) / slots * each;
    if (time < best_time) best = splits, best_time = time;
  }
  return best;
}

// Blocks of a chunk share what its key costs, but the fewer a chunk has, the nearer to each other
// it reads them (docs/lab/066-gpu-hash.md).
int warps_shift(std::size_t n, std::size_t tag_bytes) {
  if (n <= 64) return 1;
  return n <= 128 || tag_bytes < 16 ? 2 : 3;
}

}  // namespace

Status launch_tags(Stream& stream, const Shape& shape, std::size_t tag_bytes,
                   const std::uint8_t* keys, ConstBlocks blocks, std::uint8_t* tags) {
  const Device& device = stream.device();
  Shape checked = shape;
  checked.rows = 1;
  if (Status s = check_shape(checked); !s.ok()) return s;
  if (!codec::CheckKey::valid_tag_bytes(tag_bytes))
    return unsupported("tags have 4, 8 or 16 bytes");
  if (reinterpret_cast<std::uintptr_t>(keys) % 16 != 0 ||
      reinterpret_cast<std::uintptr_t>(tags) % 4 != 0)
    return unsupported("keys or tags that are not aligned");
  if (!device.has_binary_mma())
    return unsupported(device.name + " has no binary tensor cores to hash with");
  if (shape.generations == 0) return {};
  if (Status s = calls::select(device.index); !s.ok()) return s;
  const std::size_t n = shape.generation_size, k = shape.block_bytes;
  const std::size_t key_bytes = codec::CheckKey::material_bytes(k, tag_bytes);
  // Each block of threads adds its part.
  if (Status s = stream.fill(tags, 0, shape.generations * n * tag_bytes); !s.ok()) return s;

  TagJob job{};
  job.pitch = blocks.pitch;
  job.n = static_cast<int>(n);
  job.k = static_cast<int>(k);
  job.tag_bytes = static_cast<int>(tag_bytes);
  job.warps_shift = warps_shift(n, tag_bytes);
  const int chunk = 32 << job.warps_shift;
  job.chunks = (job.n + chunk - 1) / chunk;
  job.passes = tag_bytes == 16 ? 2 : 1;
  job.aligned = aligned_blocks(blocks);
  const int steps = (job.k + kTagStep - 1) / kTagStep;
  for (std::size_t g = 0; g < shape.generations; g += kGenerationsMax) {
    const std::size_t count = std::min(kGenerationsMax, shape.generations - g);
    job.keys = keys + g * key_bytes;
    job.blocks = blocks.data + g * n * blocks.pitch;
    job.tags = tags + g * n * tag_bytes;
    job.generations = static_cast<int>(count);
    job.splits = best_splits(count * static_cast<std::size_t>(job.chunks * job.passes), steps,
                             2 * static_cast<std::size_t>(stream.multiprocessors()));
    job.steps = (steps + job.splits - 1) / job.splits;
    job.splits = (steps + job.steps - 1) / job.steps;
    if (Status s = launch_tag_hash(job, stream.handle()); !s.ok()) return s;
  }
  return {};
}

}  // namespace firn::cuda
