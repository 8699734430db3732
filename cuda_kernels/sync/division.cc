// How a block of the production kernel divides its frame, the sizes that follow, and which kernel a
// shape takes.
#include <algorithm>

#include "cuda_kernels/sync/job.h"

namespace firn::cuda::sync {
namespace {

// What every device gives a block without being asked.
constexpr std::size_t kSharedMax = 48 * 1024;
// Warps in each direction: more would share the same sums over symbols, and frames are many.
constexpr int kWarpsMax = 4;

std::size_t shared_bytes(const Division& d, int real_bytes, int column_bytes) {
  // As Exchange and FrameWalk lay it out: sums; of each warp 32 columns out, and two rows of
  // columns of each of its frames, 33 reals long; columns.
  const std::size_t exchange = (32 + 2 * d.frames_per_block()) * std::size_t{33};
  const std::size_t reals = 8 * d.warps + d.threads() / 32 * exchange;
  return reals * real_bytes + std::size_t(d.threads()) * column_bytes;
}

}  // namespace

Division divide(int q, int length, int states, int received_bits_max, int real_bytes,
                int column_bytes) {
  Division d;
  if (q <= 16) {
    d.lanes = 2;
    while (d.lanes < q) d.lanes *= 2;
  }
  const int all_warps = (q + 31) / 32;
  d.warps = std::min(all_warps, kWarpsMax);
  while (d.warps > 1 && shared_bytes(d, real_bytes, column_bytes) > kSharedMax) --d.warps;
  d.rounds = (all_warps + d.warps - 1) / d.warps;
  d.row_pitch = (states + 31) / 32 * 32;
  d.bit_words = (received_bits_max + 31) / 32;
  d.shared_bytes = shared_bytes(d, real_bytes, column_bytes);
  // As Slot lays it out: rows of both directions, parts of rows, scales, bits.
  const std::size_t rows = length + std::size_t{6}, frames = d.frames_per_block();
  const std::size_t parts = d.warps > 1 ? 2 * d.warps : 0;
  const std::size_t reals = (rows * frames + parts) * d.row_pitch + rows * frames;
  d.slot_bytes = (reals * real_bytes + frames * d.bit_words * 4 + 255) / 256 * 256;
  return d;
}

int real_bytes(Kernel kernel) {
  return kernel == Kernel::kDouble ? 8 : 4;
}

int column_bytes(Kernel kernel, const Job& job) {
  const bool registers = kernel == Kernel::kFloat && takes_registers(job);
  return registers ? 0 : (job.n + 1) * real_bytes(kernel);
}

Status launch_superposed(const Job& job, Kernel kernel, bool redo, void* stream, int* resident) {
  if (kernel == Kernel::kDouble) return launch_double(job, redo, stream, resident);
  if (!takes_registers(job)) return launch_any_codeword(job, stream, resident);
  return job.mismatch > 0 ? launch_with_flips(job, stream, resident)
                          : launch_without_flips(job, stream, resident);
}

}  // namespace firn::cuda::sync
