// Gauss-Jordan elimination of [C | x], row by row, by one block of threads that keeps a private
// copy of the coefficients: Nuclei, IV-F.2 and Envelope, 4.2.2. Payload columns are divided among
// blocks (each has the words it is given) or are the identity (Envelope, 5.2: the result is then
// the inverse).
//
// The rows kept are in reduced row-echelon form, the row with its pivot in column p standing at
// index p, so that at full rank the payload columns are the source blocks in their order. A thread
// owns words of the row's columns, coefficients first, then payload.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/papers/nuclei_multiply.cuh"

namespace firn::cuda::papers {

inline constexpr int kEliminationThreadsMax = 1024;
inline constexpr int kNoPivot = 0x7fffffff;

// What one block works on. Pointers to rows kept are to global memory, the matrix's to shared
// memory too.
struct Elimination {
  std::uint32_t* matrix;  // n rows of vector_words
  std::uint32_t* payload;
  std::size_t payload_pitch;    // words from row to row
  const std::uint8_t* inverse;  // the field's table
  int n, vector_words, payload_words;
};

// In dynamic shared memory, one behind the other: vector, current row, factors, columns of the
// pivots known.
struct EliminationShared {
  std::uint32_t* vector;   // vector_words: the coefficients that came
  std::uint32_t* current;  // vector_words + payload_words: the row under reduction
  std::uint8_t* factors;   // 4 vector_words: the pivot's column
  std::uint16_t* known;    // 4 vector_words
};
constexpr std::size_t elimination_shared_bytes(int vector_words, int payload_words) {
  return 4 * static_cast<std::size_t>(2 * vector_words + payload_words) +
         12 * static_cast<std::size_t>(vector_words);
}
__device__ __forceinline__ EliminationShared divide_shared(std::uint32_t* from,
                                                           const Elimination& e) {
  EliminationShared shared;
  shared.vector = from;
  shared.current = shared.vector + e.vector_words;
  shared.factors =
      reinterpret_cast<std::uint8_t*>(shared.current + e.vector_words + e.payload_words);
  shared.known = reinterpret_cast<std::uint16_t*>(shared.factors + 4 * e.vector_words);
  return shared;
}

__device__ __forceinline__ int first_nonzero_byte(std::uint32_t word, int index) {
  return word == 0 ? kNoPivot : 4 * index + (__ffs(static_cast<int>(word)) - 1) / 8;
}

// The first nonzero coefficient of the current row by a tree in shared memory.
struct PivotByTree {
  static __device__ int find(const EliminationShared& shared, const Elimination& e) {
    __shared__ int least[kEliminationThreadsMax];
    const int me = threadIdx.x;
    least[me] = kNoPivot;
    for (int i = me; i < e.vector_words; i += blockDim.x) {
      least[me] = min(least[me], first_nonzero_byte(shared.current[i], i));
    }
    __syncthreads();
    for (int half = kEliminationThreadsMax / 2; half > 0; half /= 2) {
      if (me < half && me + half < static_cast<int>(blockDim.x)) {
        least[me] = min(least[me], least[me + half]);
      }
      __syncthreads();
    }
    const int found = least[0];
    __syncthreads();
    return found;
  }
};

// Envelope, 5.4.2: each thread reports its own by atomicMin on shared memory.
struct PivotByAtomicMin {
  static __device__ int find(const EliminationShared& shared, const Elimination& e) {
    __shared__ int least;
    if (threadIdx.x == 0) least = kNoPivot;
    __syncthreads();
    for (int i = threadIdx.x; i < e.vector_words; i += blockDim.x) {
      const int mine = first_nonzero_byte(shared.current[i], i);
      if (mine != kNoPivot) atomicMin(&least, mine);
    }
    __syncthreads();
    const int found = least;
    __syncthreads();
    return found;
  }
};

__device__ __forceinline__ std::uint32_t* column_word(const Elimination& e, int row, int word) {
  return word < e.vector_words ? e.matrix + static_cast<std::size_t>(row) * e.vector_words + word
                               : e.payload + row * e.payload_pitch + (word - e.vector_words);
}

// shared.current = what came, less its part in the rows kept. Rows kept have zeros in each other's
// pivot columns, so the coefficients that came are the factors: none waits for another.
__device__ __forceinline__ void reduce_row(const EliminationShared& shared, const Elimination& e,
                                           int rank, const std::uint32_t* vector,
                                           const std::uint32_t* payload, int identity_row) {
  for (int i = threadIdx.x; i < e.vector_words; i += blockDim.x) shared.vector[i] = vector[i];
  __syncthreads();
  const auto* factors = reinterpret_cast<const std::uint8_t*>(shared.vector);
  for (int i = threadIdx.x; i < e.vector_words + e.payload_words; i += blockDim.x) {
    const int at = i - e.vector_words;
    std::uint32_t word;
    if (at < 0) {
      word = shared.vector[i];
    } else if (identity_row >= 0) {
      word = identity_row / 4 == at ? 1u << (8 * (identity_row % 4)) : 0;
    } else {
      word = payload[at];
    }
#pragma unroll 1
    for (int r = 0; r < rank; ++r) {
      const int row = shared.known[r];
      word ^= WordByHand::multiply(factors[row], *column_word(e, row, i));
    }
    shared.current[i] = word;
  }
  __syncthreads();
}

// Makes the current row's pivot 1, clears its column in the rows kept and adds the row to them.
__device__ __forceinline__ void insert_row(const EliminationShared& shared, const Elimination& e,
                                           int rank, int pivot) {
  // The column is saved first: the thread that owns it changes it.
  for (int r = threadIdx.x; r < rank; r += blockDim.x) {
    const auto* row = reinterpret_cast<const std::uint8_t*>(column_word(e, shared.known[r], 0));
    shared.factors[r] = row[pivot];
  }
  const std::uint32_t scale =
      e.inverse[reinterpret_cast<const std::uint8_t*>(shared.current)[pivot]];
  __syncthreads();
  for (int i = threadIdx.x; i < e.vector_words + e.payload_words; i += blockDim.x) {
    const std::uint32_t word = WordByHand::multiply(scale, shared.current[i]);
#pragma unroll 1
    for (int r = 0; r < rank; ++r) {
      *column_word(e, shared.known[r], i) ^= WordByHand::multiply(shared.factors[r], word);
    }
    *column_word(e, pivot, i) = word;
  }
  if (threadIdx.x == 0) shared.known[rank] = static_cast<std::uint16_t>(pivot);
  __syncthreads();
}

// One coded block: true if it was innovative. All threads; `rank` rows are kept so far. With
// identity_row >= 0 the payload is that row of the identity, otherwise payload_words words.
template <class Pivot>
__device__ __forceinline__ bool take_row(const EliminationShared& shared, const Elimination& e,
                                         int rank, const std::uint32_t* vector,
                                         const std::uint32_t* payload, int identity_row) {
  reduce_row(shared, e, rank, vector, payload, identity_row);
  const int pivot = Pivot::find(shared, e);
  if (pivot == kNoPivot) return false;
  insert_row(shared, e, rank, pivot);
  return true;
}

}  // namespace firn::cuda::papers
