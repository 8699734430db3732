// Gauss-Jordan elimination in place on a few columns, one row per thread, for both inversions.
//
// The columns of the identity that would stand beside the matrix take the places of the columns
// already cleared, so that afterwards a row holds how it came out of the pivots' rows. Rows are not
// exchanged: the pivot of a column is the highest row (lowest index) not yet used that has a
// nonzero there. With this rule a row is left over exactly if it is a combination of rows above it:
// a row is only ever reduced by rows above it, since it would itself have been chosen before one
// below it.
//
// A row's columns are words in registers, turned by one word every four columns, so that the
// current one is always in the first. The pivot row times all half bytes goes to shared memory as
// 32 words for each word of the row: a lookup by a row's coefficient never meets a bank conflict,
// since equal entries are one word and others are in other banks.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "cuda_kernels/batch/gf256.cuh"

namespace firn::cuda {

inline constexpr int kNoRow = 0x7fffffff;

template <int kWords>
struct EliminationShared {
  std::uint32_t products[kWords]
                        [32];  // [word][value], pieces of 4 values in the order piece ^ word
  alignas(16) std::uint32_t pivot_words[kWords];
  int pivot_row[2];  // of this column, and none yet for the next
  std::uint32_t pivot_element;
  int row_of_column[4 * kWords];  // pivots found, kNoRow where a column has none
  Logarithms logarithms;
};

// All threads, once, before eliminate().
template <int kWords>
__device__ void prepare(EliminationShared<kWords>& shared, const Logarithms& logarithms) {
  for (int i = threadIdx.x; i < 512; i += blockDim.x) {
    if (i < 256) shared.logarithms.log_of[i] = logarithms.log_of[i];
    shared.logarithms.power_of[i] = logarithms.power_of[i];
  }
  if (threadIdx.x < 2) shared.pivot_row[threadIdx.x] = kNoRow;
  __syncthreads();
}

// Threads 0 .. 4 kWords - 1: products of the pivot row. A thread makes 8 of a word's 32.
template <int kWords>
__device__ __forceinline__ void make_products(EliminationShared<kWords>& shared) {
  if (threadIdx.x >= 4 * kWords) return;
  const int word = threadIdx.x % kWords, part = threadIdx.x / kWords;
  std::uint32_t x1 = shared.pivot_words[word];
  if (part >= 2) x1 = times_x(times_x(times_x(times_x(x1))));
  const std::uint32_t x2 = times_x(x1), x4 = times_x(x2), x8 = part % 2 == 1 ? times_x(x4) : 0;
  auto* pieces = reinterpret_cast<uint4*>(shared.products[word]);
  pieces[(2 * part) ^ (word & 7)] = make_uint4(x8, x8 ^ x1, x8 ^ x2, x8 ^ x1 ^ x2);
  pieces[(2 * part + 1) ^ (word & 7)] =
      make_uint4(x8 ^ x4, x8 ^ x4 ^ x1, x8 ^ x4 ^ x2, x8 ^ x4 ^ x1 ^ x2);
}

// row: this thread's row, threadIdx.x; used: whether it was or has become a pivot; column: of which
// column. All threads of the block take part; blockDim.x is a multiple of 32 and at least 4 kWords.
template <int kWords>
__device__ void eliminate(EliminationShared<kWords>& shared, std::uint32_t (&row)[kWords],
                          bool& used, int& column) {
  const int me = threadIdx.x;
  for (int turn = 0; turn < kWords; ++turn) {
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const int current = 4 * turn + b;
      const std::uint32_t element = row[0] >> (8 * b) & 255;
      const unsigned candidates = __ballot_sync(~0u, element != 0 && !used);
      if (candidates != 0 && me % 32 == 0) {
        atomicMin(&shared.pivot_row[b & 1], me + __ffs(candidates) - 1);
      }
      __syncthreads();
      const int pivot = shared.pivot_row[b & 1];
      if (me == 0) {
        shared.pivot_row[(b & 1) ^ 1] = kNoRow;
        shared.row_of_column[current] = pivot;
      }
      if (pivot == kNoRow) {  // what used rows have here takes no part any more
        row[0] &= ~(255u << (8 * b));
        __syncthreads();
        continue;
      }
      if (me == pivot) {
        used = true, column = current;
        shared.pivot_element = element;
        row[0] = (row[0] & ~(255u << (8 * b))) | 1u << (8 * b);
#pragma unroll
        for (int i = 0; i < kWords; i += 4) {
          *reinterpret_cast<uint4*>(shared.pivot_words + i) =
              make_uint4(row[i], row[i + 1], row[i + 2], row[i + 3]);
        }
      }
      __syncthreads();
      make_products(shared);
      const Logarithms& tables = shared.logarithms;
      const int log_inverse = 255 - tables.log_of[shared.pivot_element];
      std::uint32_t factor =
          element == 0 ? 0 : tables.power_of[tables.log_of[element] + log_inverse];
      if (me == pivot) factor = tables.power_of[log_inverse];
      row[0] &= ~(255u << (8 * b));
      const std::uint32_t keep = me == pivot ? 0 : ~0u;
      __syncthreads();
      const std::uint32_t low = factor & 15, high = 16 + (factor >> 4);
#pragma unroll
      for (int i = 0; i < kWords; ++i) {
        const int turned = (i & 7) << 2;
        row[i] =
            (row[i] & keep) ^ shared.products[i][low ^ turned] ^ shared.products[i][high ^ turned];
      }
    }
    const std::uint32_t first = row[0];
#pragma unroll
    for (int i = 0; i + 1 < kWords; ++i) row[i] = row[i + 1];
    row[kWords - 1] = first;
  }
  __syncthreads();
}

}  // namespace firn::cuda
