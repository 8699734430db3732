// How threads are numbered: one per word (or other piece) of a segment's coded blocks, segments in
// y.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/papers/papers.h"

namespace firn::cuda::papers {

inline unsigned blocks_for(std::size_t threads, int per_block) {
  return static_cast<unsigned>((threads + per_block - 1) / per_block);
}

inline dim3 grid_for(const Job& job, std::size_t threads_per_segment, int per_block) {
  return {blocks_for(threads_per_segment, per_block), static_cast<unsigned>(job.segments)};
}

__device__ __forceinline__ unsigned thread_of_grid() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

// One segment's part of a job, in words.
struct SegmentView {
  const std::uint8_t* coefficients;  // row r at r * pitch
  const std::uint32_t* blocks;       // block j at j * words
  std::uint32_t* out;
  unsigned pitch, words;
};
__device__ __forceinline__ SegmentView segment_of(const Job& job, unsigned segment) {
  const std::size_t k = job.k, pitch = coefficient_pitch(job.n);
  return {job.coefficients + segment * job.m * pitch,
          reinterpret_cast<const std::uint32_t*>(job.blocks + segment * job.n * k),
          reinterpret_cast<std::uint32_t*>(job.out + segment * job.m * k),
          static_cast<unsigned>(pitch), static_cast<unsigned>(job.k / 4)};
}

// Four neighbouring coefficients of a row, at `j`, a multiple of 4.
__device__ __forceinline__ std::uint32_t four_coefficients(const std::uint8_t* row, int j) {
  return *reinterpret_cast<const std::uint32_t*>(row + j);
}

}  // namespace firn::cuda::papers
