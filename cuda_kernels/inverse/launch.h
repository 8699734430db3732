// Internal: the launchers of the inversion's kernels, one per .cu file. inverse.cc has checked the
// shapes and chooses among them. `stream` is a cudaStream_t of the current device. Each queues work
// and returns what the launch said.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

struct InverseJob {
  const std::uint8_t* matrices;
  std::uint8_t* inverses;
  std::uint32_t* ranks;
  std::uint8_t* dependent;  // may be null
  int n;
  int generations;
};

// small.cu: n <= 128, one block of threads per matrix, in registers.
inline constexpr int kSmallInverseMax = 128;
Status launch_small_inverse(const InverseJob& job, void* stream);

// panels.cu: any n <= 1024; `work` takes panel_work_bytes() for each generation of the job,
// 256-byte aligned.
std::size_t panel_work_bytes(int n);
Status launch_panel_inverse(const InverseJob& job, std::uint8_t* work, void* stream);

}  // namespace firn::cuda
