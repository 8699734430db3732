// The kernel itself and its launch, for the files that instantiate it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda_kernels/runtime/cuda_check.h"
#include "cuda_kernels/sync/frame_walk.cuh"

namespace firn::cuda::sync {

inline constexpr int kThreadsMax = 256;  // 4 warps in each direction
inline constexpr int kBlocksMin = 3;

// Each block decodes every gridDim.x-th frame, or group of frames of a warp.
template <typename Column>
__global__ __launch_bounds__(kThreadsMax,
                             kBlocksMin) void sync_superposed(const __grid_constant__ Job job,
                                                              const int* chosen,
                                                              const int* chosen_count) {
  extern __shared__ double shared[];
  const int frames = chosen_count == nullptr ? job.frames : *chosen_count;
  for (int group = blockIdx.x; group * job.division.frames_per_block() < frames;
       group += gridDim.x) {
    FrameWalk<Column>(job, chosen, frames, group, reinterpret_cast<typename Column::Real*>(shared))
        .run();
  }
}

template <typename Column>
Status launch_kernel(const Job& job, bool redo, void* stream, int* resident) {
  const auto kernel = sync_superposed<Column>;
  const int threads = job.division.threads();
  if (resident != nullptr) {
    return checked(cudaOccupancyMaxActiveBlocksPerMultiprocessor(resident, kernel, threads,
                                                                 job.division.shared_bytes),
                   "cudaOccupancyMaxActiveBlocksPerMultiprocessor");
  }
  kernel<<<job.blocks, threads, job.division.shared_bytes, static_cast<cudaStream_t>(stream)>>>(
      job, redo ? job.out.redo : nullptr, redo ? job.out.redo_count : nullptr);
  return launched("sync_superposed");
}

// The kernel with this n in registers; n is in 1..kRegisterBitsMax.
template <bool kFlips, int kBits = kRegisterBitsMax>
Status launch_for_bits(const Job& job, void* stream, int* resident) {
  if constexpr (kBits > 1) {
    if (job.n < kBits) return launch_for_bits<kFlips, kBits - 1>(job, stream, resident);
  }
  return launch_kernel<RegisterColumn<kBits, kFlips>>(job, false, stream, resident);
}

}  // namespace firn::cuda::sync
