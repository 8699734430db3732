// Nuclei, IV-F: progressive decoding of one segment, coded block after coded block.
#include <cstring>

#include "cuda_kernels/papers/launch.h"
#include "cuda_kernels/papers/replicated.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

constexpr int kThreads = 256;

cudaStream_t queue(Context& context) {
  return static_cast<cudaStream_t>(context.stream().handle());
}

// ---- IV-F.1, decoding with CPU assistance -----------------------------------------------------
// Every word of [C | x] has a thread. The search for the first nonzero coefficient needs all
// threads' results, so it is the host's, between two kernels.

struct AssistedState {
  std::uint32_t* matrix;   // n rows of vector_words, row at its pivot's index
  std::uint32_t* payload;  // n rows of words: the job's output
  std::uint32_t* current;  // vector_words + words
  std::uint8_t* column;    // n: the pivot's column before the second kernel
  std::uint16_t* known;    // n: pivots in order
  const std::uint8_t* inverse;
  int vector_words, words;
};

__device__ __forceinline__ std::uint32_t* word_of(const AssistedState& state, int row, int i) {
  return i < state.vector_words
             ? state.matrix + static_cast<std::size_t>(row) * state.vector_words + i
             : state.payload + static_cast<std::size_t>(row) * state.words +
                   (i - state.vector_words);
}

__global__ void nuclei_reduce_row(AssistedState state, const std::uint32_t* vector,
                                  const std::uint32_t* payload, int rank) {
  const int i = static_cast<int>(thread_of_grid());
  if (i >= state.vector_words + state.words) return;
  const auto* factors = reinterpret_cast<const std::uint8_t*>(vector);
  std::uint32_t word = i < state.vector_words ? vector[i] : payload[i - state.vector_words];
#pragma unroll 1
  for (int r = 0; r < rank; ++r) {
    const int row = state.known[r];
    word ^= WordByHand::multiply(factors[row], *word_of(state, row, i));
  }
  state.current[i] = word;
}

__global__ void nuclei_insert_row(AssistedState state, int rank, int pivot, std::uint8_t lead) {
  const int i = static_cast<int>(thread_of_grid());
  if (i >= state.vector_words + state.words) return;
  const std::uint32_t word = WordByHand::multiply(state.inverse[lead], state.current[i]);
#pragma unroll 1
  for (int r = 0; r < rank; ++r) {
    const int row = state.known[r];
    *word_of(state, row, i) ^= WordByHand::multiply(state.column[row], word);
  }
  *word_of(state, pivot, i) = word;
  // For later launches; no thread reads beyond `rank` in this one.
  if (i == 0) state.known[rank] = static_cast<std::uint16_t>(pivot);
}

Status assisted_state(Context& context, const Job& job, AssistedState& state) {
  const std::size_t pitch = coefficient_pitch(job.n), n = job.n;
  std::uint8_t* scratch = nullptr;
  if (Status s = context.scratch(n * pitch + pitch + job.k + pitch + 2 * pitch, scratch); !s.ok()) {
    return s;
  }
  state.vector_words = static_cast<int>(pitch / 4);
  state.words = job.k / 4;
  state.inverse = context.tables().inverse;
  state.matrix = reinterpret_cast<std::uint32_t*>(scratch);
  state.current = state.matrix + n * state.vector_words;
  state.known = reinterpret_cast<std::uint16_t*>(state.current + state.vector_words + state.words);
  state.column = reinterpret_cast<std::uint8_t*>(state.known + pitch);
  return {};
}

// One coded block; raises the rank if it is innovative. `host` takes the reduced coefficients.
Status take_assisted(Context& context, const Job& job, const AssistedState& state, int row,
                     std::uint8_t* host, int& rank) {
  const unsigned blocks = blocks_for(state.vector_words + state.words, kThreads);
  const std::size_t pitch = coefficient_pitch(job.n);
  nuclei_reduce_row<<<blocks, kThreads, 0, queue(context)>>>(
      state, reinterpret_cast<const std::uint32_t*>(job.coefficients + row * pitch),
      reinterpret_cast<const std::uint32_t*>(job.blocks + std::size_t(row) * job.k), rank);
  if (Status s = launched("nuclei_reduce_row"); !s.ok()) return s;
  if (Status s = context.stream().copy_out(
          host, reinterpret_cast<const std::uint8_t*>(state.current), pitch);
      !s.ok()) {
    return s;
  }
  if (Status s = context.stream().wait(); !s.ok()) return s;
  int pivot = 0;
  while (pivot < job.n && host[pivot] == 0) ++pivot;
  if (pivot == job.n) return {};
  if (Status s = checked(
          cudaMemcpy2DAsync(state.column, 1, reinterpret_cast<std::uint8_t*>(state.matrix) + pivot,
                            pitch, 1, job.n, cudaMemcpyDeviceToDevice, queue(context)),
          "cudaMemcpy2DAsync");
      !s.ok()) {
    return s;
  }
  nuclei_insert_row<<<blocks, kThreads, 0, queue(context)>>>(state, rank, pivot, host[pivot]);
  ++rank;
  return launched("nuclei_insert_row");
}

// ---- IV-F.2, full GPU decoding ----------------------------------------------------------------

__global__ void __launch_bounds__(kEliminationThreadsMax)
    nuclei_decode_replicated_row(Job job, ReplicatedState state, int slice_words, int row,
                                 const std::uint8_t* inverse) {
  extern __shared__ std::uint32_t raw[];
  const Elimination e = slice_of(job, state, slice_words, inverse);
  const EliminationShared shared = divide_shared(raw, e);
  const std::size_t pitch = coefficient_pitch(job.n);
  std::uint16_t* known = state.known + blockIdx.x * pitch;
  const int rank = row == 0 ? 0 : state.ranks[blockIdx.x];
  if (rank == job.n) return;
  for (int r = threadIdx.x; r < rank; r += blockDim.x) shared.known[r] = known[r];
  __syncthreads();  // also: everyone has read the rank
  const bool innovative = take_row<PivotByTree>(shared, e, rank, vector_of(job, row),
                                                payload_of(job, row, slice_words), -1);
  if (threadIdx.x == 0) {
    if (innovative) known[rank] = shared.known[rank];
    state.ranks[blockIdx.x] = rank + innovative;
  }
}

// ---- IV-F.2, end: n coded blocks are collected, then decoded without a pause --------------------
// The paper does not say which of its two schemes it let run on; this is the one that needs no
// host.

__global__ void __launch_bounds__(kEliminationThreadsMax)
    nuclei_decode_buffered(Job job, ReplicatedState state, int slice_words,
                           const std::uint8_t* inverse) {
  extern __shared__ std::uint32_t raw[];
  const Elimination e = slice_of(job, state, slice_words, inverse);
  decode_all_rows<PivotByTree>(job, state, divide_shared(raw, e), e, slice_words);
}

}  // namespace

Status decode_host_pivot(Context& context, const Job& job) {
  AssistedState state{};
  if (Status s = assisted_state(context, job, state); !s.ok()) return s;
  std::uint8_t* host = nullptr;
  if (Status s = context.pinned(coefficient_pitch(job.n), host); !s.ok()) return s;
  for (int segment = 0; segment < job.segments; ++segment) {
    const Job one = one_segment(job, segment);
    state.payload = reinterpret_cast<std::uint32_t*>(one.out);
    int rank = 0;
    for (int row = 0; row < job.m && rank < job.n; ++row) {
      if (Status s = take_assisted(context, one, state, row, host, rank); !s.ok()) return s;
    }
    *one.ranks = rank;
  }
  return context.stream().wait();
}

Status decode_replicated(Context& context, const Job& job) {
  const ReplicatedPlan plan = plan_replicated(context, job);
  std::uint8_t* scratch = nullptr;
  if (Status s = context.scratch(replicated_scratch_bytes(plan, job), scratch); !s.ok()) return s;
  const ReplicatedState state = divide_scratch(scratch, plan, job);
  if (Status s = allow_shared(reinterpret_cast<const void*>(nuclei_decode_replicated_row),
                              plan.shared_bytes);
      !s.ok()) {
    return s;
  }
  for (int segment = 0; segment < job.segments; ++segment) {
    const Job one = one_segment(job, segment);
    for (int row = 0; row < job.m; ++row) {
      nuclei_decode_replicated_row<<<plan.blocks, plan.threads, plan.shared_bytes,
                                     queue(context)>>>(one, state, plan.slice_words, row,
                                                       context.tables().inverse);
      if (Status s = launched("nuclei_decode_replicated_row"); !s.ok()) return s;
    }
    if (Status s = read_rank(context, state, one.ranks); !s.ok()) return s;
  }
  return {};
}

Status decode_buffered(Context& context, const Job& job) {
  const ReplicatedPlan plan = plan_replicated(context, job);
  std::uint8_t* scratch = nullptr;
  if (Status s = context.scratch(replicated_scratch_bytes(plan, job), scratch); !s.ok()) return s;
  const ReplicatedState state = divide_scratch(scratch, plan, job);
  if (Status s =
          allow_shared(reinterpret_cast<const void*>(nuclei_decode_buffered), plan.shared_bytes);
      !s.ok()) {
    return s;
  }
  for (int segment = 0; segment < job.segments; ++segment) {
    const Job one = one_segment(job, segment);
    nuclei_decode_buffered<<<plan.blocks, plan.threads, plan.shared_bytes, queue(context)>>>(
        one, state, plan.slice_words, context.tables().inverse);
    if (Status s = launched("nuclei_decode_buffered"); !s.ok()) return s;
    if (Status s = read_rank(context, state, one.ranks); !s.ok()) return s;
  }
  return {};
}

}  // namespace firn::cuda::papers
