// Pushing the Envelope, 5.2 and 5.4: many segments decoded at once by inversion and multiplication,
// and the refinements of decoding a single one.
#include "cuda_kernels/papers/launch.h"
#include "cuda_kernels/papers/replicated.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::papers {
namespace {

cudaStream_t queue(Context& context) {
  return static_cast<cudaStream_t>(context.stream().handle());
}

// ---- 5.2: first stage, C^-1 of every segment by Gauss-Jordan elimination of [C | I]
// ---------------

struct Inversion {
  std::uint8_t* matrices;  // segments x n x pitch, worked on
  std::uint8_t* inverses;  // segments x n x pitch
  int* ranks;              // segments
};

__device__ __forceinline__ void invert_segment(const Job& job, const Inversion& to,
                                               const std::uint8_t* inverse_table) {
  extern __shared__ std::uint32_t raw[];
  const std::size_t pitch = coefficient_pitch(job.n), at = blockIdx.x * job.n * pitch;
  Elimination e;
  e.matrix = reinterpret_cast<std::uint32_t*>(to.matrices + at);
  e.payload = reinterpret_cast<std::uint32_t*>(to.inverses + at);
  e.payload_pitch = pitch / 4;
  e.inverse = inverse_table;
  e.n = job.n;
  e.vector_words = e.payload_words = static_cast<int>(pitch / 4);
  const EliminationShared shared = divide_shared(raw, e);
  const auto* vectors = reinterpret_cast<const std::uint32_t*>(job.coefficients + at);
  int rank = 0;
  for (int row = 0; row < job.n; ++row) {
    rank += take_row<PivotByAtomicMin>(
        shared, e, rank, vectors + static_cast<std::size_t>(row) * e.vector_words, nullptr, row);
  }
  if (threadIdx.x == 0) to.ranks[blockIdx.x] = rank;
}

// The two differ in how much shared memory they are launched with, and so in how many run beside
// each other on a multiprocessor.
__global__ void __launch_bounds__(512)
    envelope_invert_one_per_multiprocessor(Job job, Inversion to, const std::uint8_t* table) {
  invert_segment(job, to, table);
}
__global__ void __launch_bounds__(512)
    envelope_invert_two_per_multiprocessor(Job job, Inversion to, const std::uint8_t* table) {
  invert_segment(job, to, table);
}

using InvertKernel = void (*)(Job, Inversion, const std::uint8_t*);

// Enough shared memory that no more than `at_once` blocks fit on a multiprocessor.
std::size_t shared_for(const Context& context, const Job& job, int at_once) {
  const int words = coefficient_pitch(job.n) / 4;
  const std::size_t share = context.shared_per_multiprocessor() / (at_once + 1) + 1024;
  return std::max(elimination_shared_bytes(words, words),
                  std::min(share, context.shared_per_block() - 1024));
}

Status decode_multi_segment(Context& context, const Job& job, InvertKernel kernel, const char* name,
                            int at_once) {
  const std::size_t matrices =
      (std::size_t(job.segments) * job.n * coefficient_pitch(job.n) + 255) / 256 * 256;
  Job multiply = job;
  std::uint8_t *scratch = nullptr, *host = nullptr;
  const std::size_t ranks_bytes = (job.segments * sizeof(int) + 255) / 256 * 256;
  if (Status s = context.scratch(2 * matrices + ranks_bytes + table_scratch_bytes(job), scratch);
      !s.ok()) {
    return s;
  }
  if (Status s = context.pinned(ranks_bytes, host); !s.ok()) return s;
  const Inversion to{scratch, scratch + matrices, reinterpret_cast<int*>(scratch + 2 * matrices)};
  const std::size_t shared = shared_for(context, job, at_once);
  if (Status s = allow_shared(reinterpret_cast<const void*>(kernel), shared); !s.ok()) return s;
  const int threads = (coefficient_pitch(job.n) / 2 + 31) / 32 * 32;  // a word each of [C | I]
  kernel<<<job.segments, threads, shared, queue(context)>>>(job, to, context.tables().inverse);
  if (Status s = launched(name); !s.ok()) return s;
  if (Status s = context.stream().copy_out(host, reinterpret_cast<const std::uint8_t*>(to.ranks),
                                           job.segments * sizeof(int));
      !s.ok()) {
    return s;
  }
  if (!job.first_stage_only) {  // second stage: "a regular multiplication", by the best table form
    multiply.coefficients = to.inverses;
    if (Status s = launch_table5(context, multiply, scratch + 2 * matrices + ranks_bytes);
        !s.ok()) {
      return s;
    }
  }
  if (Status s = context.stream().wait(); !s.ok()) return s;
  std::copy_n(reinterpret_cast<const int*>(host), job.segments, job.ranks);
  return {};
}

// ---- 5.4.2 and 5.4.3: a single segment, buffered as in Nuclei
// --------------------------------------

__global__ void __launch_bounds__(kEliminationThreadsMax)
    envelope_decode_atomic_min(Job job, ReplicatedState state, int slice_words,
                               const std::uint8_t* inverse) {
  extern __shared__ std::uint32_t raw[];
  const Elimination e = slice_of(job, state, slice_words, inverse);
  decode_all_rows<PivotByAtomicMin>(job, state, divide_shared(raw, e), e, slice_words);
}

// The block's copy of the coefficient matrix is in shared memory, in front of the rest.
__global__ void __launch_bounds__(kEliminationThreadsMax)
    envelope_decode_cached_matrix(Job job, ReplicatedState state, int slice_words,
                                  const std::uint8_t* inverse) {
  extern __shared__ std::uint32_t raw[];
  Elimination e = slice_of(job, state, slice_words, inverse);
  e.matrix = raw;
  const EliminationShared shared = divide_shared(raw + job.n * e.vector_words, e);
  decode_all_rows<PivotByAtomicMin>(job, state, shared, e, slice_words);
}

Status decode_single(Context& context, const Job& job,
                     void (*kernel)(Job, ReplicatedState, int, const std::uint8_t*),
                     const char* name, std::size_t matrix_bytes) {
  const ReplicatedPlan plan = plan_replicated(context, job);
  std::uint8_t* scratch = nullptr;
  if (Status s = context.scratch(replicated_scratch_bytes(plan, job), scratch); !s.ok()) return s;
  const ReplicatedState state = divide_scratch(scratch, plan, job);
  const std::size_t shared = plan.shared_bytes + matrix_bytes;
  if (Status s = allow_shared(reinterpret_cast<const void*>(kernel), shared); !s.ok()) return s;
  for (int segment = 0; segment < job.segments; ++segment) {
    const Job one = one_segment(job, segment);
    kernel<<<plan.blocks, plan.threads, shared, queue(context)>>>(one, state, plan.slice_words,
                                                                  context.tables().inverse);
    if (Status s = launched(name); !s.ok()) return s;
    if (Status s = read_rank(context, state, one.ranks); !s.ok()) return s;
  }
  return {};
}

}  // namespace

Status decode_multi_segment_one(Context& context, const Job& job) {
  return decode_multi_segment(context, job, envelope_invert_one_per_multiprocessor,
                              "envelope_invert_one_per_multiprocessor", 1);
}

Status decode_multi_segment_two(Context& context, const Job& job) {
  return decode_multi_segment(context, job, envelope_invert_two_per_multiprocessor,
                              "envelope_invert_two_per_multiprocessor", 2);
}

Status decode_atomic_min(Context& context, const Job& job) {
  return decode_single(context, job, envelope_decode_atomic_min, "envelope_decode_atomic_min", 0);
}

Status decode_cached_matrix(Context& context, const Job& job) {
  return decode_single(context, job, envelope_decode_cached_matrix, "envelope_decode_cached_matrix",
                       std::size_t(job.n) * coefficient_pitch(job.n));
}

int cached_matrix_size_max(const Context& context) {
  // 8 KiB stay for the row at work and a payload's slice.
  const std::size_t room = context.shared_per_block() - 8 * 1024;
  int n = 4;
  while (n < 1024 && std::size_t(n + 4) * (n + 4) <= room) n += 4;
  return n;
}

}  // namespace firn::cuda::papers
