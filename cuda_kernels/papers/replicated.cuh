// One segment decoded by blocks of threads that each own a slice of every payload and a copy of all
// coefficients (Nuclei, IV-F.2; Envelope, Fig. 3), one block to a multiprocessor.
#pragma once

#include <algorithm>

#include "cuda_kernels/papers/block_elimination.cuh"
#include "cuda_kernels/papers/context.h"
#include "cuda_kernels/papers/grid.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {

// What the blocks keep between launches: each its matrix, its list of pivots and its rank.
struct ReplicatedState {
  std::uint8_t* matrices;  // blocks x n x pitch
  std::uint16_t* known;    // blocks x pitch
  int* ranks;              // blocks
};

struct ReplicatedPlan {
  int blocks, slice_words, threads;
  std::size_t shared_bytes;
};

inline ReplicatedPlan plan_replicated(const Context& context, const Job& job) {
  const int words = job.k / 4, vector_words = coefficient_pitch(job.n) / 4;
  ReplicatedPlan plan{};
  plan.slice_words =
      (words + context.device().multiprocessors - 1) / context.device().multiprocessors;
  plan.blocks = (words + plan.slice_words - 1) / plan.slice_words;
  // A thread for each word of its block's columns, as far as a block goes.
  plan.threads = std::min(kEliminationThreadsMax, (vector_words + plan.slice_words + 31) / 32 * 32);
  plan.shared_bytes = elimination_shared_bytes(vector_words, plan.slice_words);
  return plan;
}

inline std::size_t replicated_scratch_bytes(const ReplicatedPlan& plan, const Job& job) {
  const std::size_t pitch = coefficient_pitch(job.n);
  return plan.blocks * (job.n * pitch + 2 * pitch + sizeof(int)) + 256;
}
inline ReplicatedState divide_scratch(std::uint8_t* scratch, const ReplicatedPlan& plan,
                                      const Job& job) {
  const std::size_t pitch = coefficient_pitch(job.n);
  ReplicatedState state{};
  state.matrices = scratch;
  state.known = reinterpret_cast<std::uint16_t*>(scratch + plan.blocks * job.n * pitch);
  state.ranks = reinterpret_cast<int*>(state.known + plan.blocks * pitch);
  return state;
}

// This block's task in a job of one segment.
__device__ __forceinline__ Elimination slice_of(const Job& job, const ReplicatedState& state,
                                                int slice_words, const std::uint8_t* inverse) {
  const int words = job.k / 4, first = blockIdx.x * slice_words;
  const std::size_t pitch = coefficient_pitch(job.n);
  Elimination e;
  e.matrix = reinterpret_cast<std::uint32_t*>(state.matrices + blockIdx.x * job.n * pitch);
  e.payload = reinterpret_cast<std::uint32_t*>(job.out) + first;
  e.payload_pitch = words;
  e.inverse = inverse;
  e.n = job.n;
  e.vector_words = static_cast<int>(pitch / 4);
  e.payload_words = min(slice_words, words - first);
  return e;
}

__device__ __forceinline__ const std::uint32_t* vector_of(const Job& job, int row) {
  return reinterpret_cast<const std::uint32_t*>(job.coefficients + static_cast<std::size_t>(row) *
                                                                       coefficient_pitch(job.n));
}
__device__ __forceinline__ const std::uint32_t* payload_of(const Job& job, int row,
                                                           int slice_words) {
  return reinterpret_cast<const std::uint32_t*>(job.blocks) +
         static_cast<std::size_t>(row) * (job.k / 4) + blockIdx.x * slice_words;
}

// All of a segment's coded blocks in one launch.
template <class Pivot>
__device__ __forceinline__ void decode_all_rows(const Job& job, const ReplicatedState& state,
                                                const EliminationShared& shared,
                                                const Elimination& e, int slice_words) {
  int rank = 0;
  for (int row = 0; row < job.m && rank < job.n; ++row) {
    rank += take_row<Pivot>(shared, e, rank, vector_of(job, row), payload_of(job, row, slice_words),
                            -1);
  }
  if (threadIdx.x == 0) state.ranks[blockIdx.x] = rank;
}

inline Status allow_shared(const void* kernel, std::size_t bytes) {
  return checked(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                      static_cast<int>(bytes)),
                 "cudaFuncSetAttribute");
}

// The job of one segment of a larger one.
inline Job one_segment(const Job& job, int segment) {
  const std::size_t at = segment;
  Job one = job;
  one.segments = 1;
  one.coefficients += at * job.m * coefficient_pitch(job.n);
  one.blocks += at * job.m * job.k;
  one.out += at * job.n * job.k;
  if (job.ranks != nullptr) one.ranks = job.ranks + segment;
  return one;
}

// Rank of the first block (all find the same), once everything queued is done.
inline Status read_rank(Context& context, const ReplicatedState& state, int* rank) {
  std::uint8_t* host = nullptr;
  if (Status s = context.pinned(sizeof(int), host); !s.ok()) return s;
  if (Status s = context.stream().copy_out(host, reinterpret_cast<const std::uint8_t*>(state.ranks),
                                           sizeof(int));
      !s.ok()) {
    return s;
  }
  if (Status s = context.stream().wait(); !s.ok()) return s;
  *rank = *reinterpret_cast<const int*>(host);
  return {};
}

}  // namespace firn::cuda::papers
