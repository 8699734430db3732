// Inversion for n <= 128: one block of threads per matrix, a row per thread in registers. Matrices
// are padded with the identity to 32, 64 or 128 rows, which changes nothing in theirs.
#include <cuda_runtime.h>

#include "cuda_kernels/inverse/elimination.cuh"
#include "cuda_kernels/inverse/launch.h"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda {
namespace {

__device__ const Logarithms kLogarithms = make_logarithms();

// A padded matrix in shared memory, read by rows and by columns: rows are 4 bytes longer than
// needed, so that a column's words are in different banks.
template <int kWords>
struct SmallShared {
  static constexpr int kPitch = 4 * kWords + 4;
  EliminationShared<kWords> elimination;
  alignas(16) std::uint8_t matrix[4 * kWords * kPitch];
};

template <int kWords>
__device__ void load_matrix(SmallShared<kWords>& shared, const std::uint8_t* from, int n) {
  constexpr int kSize = 4 * kWords, kPitch = SmallShared<kWords>::kPitch;
  if (((reinterpret_cast<std::uintptr_t>(from) | static_cast<unsigned>(n)) & 3) == 0) {
    for (int i = threadIdx.x; i < kSize * kWords; i += kSize) {
      const int r = i / kWords, word = i % kWords;
      const std::uint32_t diagonal = r / 4 == word ? 1u << (8 * (r % 4)) : 0;
      *reinterpret_cast<std::uint32_t*>(shared.matrix + r * kPitch + 4 * word) =
          r < n && 4 * word < n ? *reinterpret_cast<const std::uint32_t*>(from + r * n + 4 * word)
                                : diagonal;
    }
  } else {
    for (int i = threadIdx.x; i < kSize * kSize; i += kSize) {
      const int r = i / kSize, c = i % kSize;
      shared.matrix[r * kPitch + c] = r < n && c < n ? from[r * n + c] : r == c;
    }
  }
}

template <int kWords>
__device__ void store_matrix(const SmallShared<kWords>& shared, std::uint8_t* to, int n) {
  constexpr int kSize = 4 * kWords, kPitch = SmallShared<kWords>::kPitch;
  if (((reinterpret_cast<std::uintptr_t>(to) | static_cast<unsigned>(n)) & 3) == 0) {
    for (int i = threadIdx.x; i < n * kWords; i += kSize) {
      const int r = i / kWords, word = i % kWords;
      if (4 * word >= n) continue;
      *reinterpret_cast<std::uint32_t*>(to + r * n + 4 * word) =
          *reinterpret_cast<const std::uint32_t*>(shared.matrix + r * kPitch + 4 * word);
    }
  } else {
    for (int i = threadIdx.x; i < n * kSize; i += kSize) {
      const int r = i / kSize, c = i % kSize;
      if (c < n) to[r * n + c] = shared.matrix[r * kPitch + c];
    }
  }
}

template <int kWords>
__global__ void __launch_bounds__(4 * kWords, kWords == 32 ? 6 : 8)
    invert_in_registers(InverseJob job) {
  constexpr int kPitch = SmallShared<kWords>::kPitch;
  __shared__ SmallShared<kWords> shared;
  const int me = threadIdx.x, n = job.n;
  const std::size_t g = blockIdx.x;
  prepare(shared.elimination, kLogarithms);
  load_matrix<kWords>(shared, job.matrices + g * n * n, n);
  __syncthreads();
  std::uint32_t row[kWords];
#pragma unroll
  for (int i = 0; i < kWords; ++i) {
    row[i] = *reinterpret_cast<const std::uint32_t*>(shared.matrix + me * kPitch + 4 * i);
  }
  bool used = false;
  int column = 0;
  eliminate<kWords>(shared.elimination, row, used, column);

  const int rank = __syncthreads_count(used && me < n);
  if (me == 0) job.ranks[g] = rank;
  if (job.dependent != nullptr && me < n) job.dependent[g * n + me] = !used;
  if (rank < n) return;
  // With pivot row r(p) for column p: inverse[p][r(q)] = row r(p), column q.
  std::uint8_t* to = shared.matrix + column * kPitch;
#pragma unroll
  for (int q = 0; q < 4 * kWords; ++q) {
    to[shared.elimination.row_of_column[q]] = row[q / 4] >> (8 * (q % 4)) & 255;
  }
  __syncthreads();
  store_matrix<kWords>(shared, job.inverses + g * n * n, n);
}

}  // namespace

Status launch_small_inverse(const InverseJob& job, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  const auto blocks = static_cast<unsigned>(job.generations);
  if (job.n <= 32) {
    invert_in_registers<8><<<blocks, 32, 0, queue>>>(job);
  } else if (job.n <= 64) {
    invert_in_registers<16><<<blocks, 64, 0, queue>>>(job);
  } else {
    invert_in_registers<32><<<blocks, 128, 0, queue>>>(job);
  }
  return launched("invert_in_registers");
}

}  // namespace firn::cuda
