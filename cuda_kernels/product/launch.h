// Internal: the launchers of the product's kernels, one per .cu file. product.cc has checked the
// shapes and chooses among them. Arguments are plain so that both compilers read them; `stream` is
// a cudaStream_t of the current device. Each queues work and returns what the launch said.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

// out[g] = C[g] B[g] for every generation: C is m x n, B n x k, out m x k, row-major. Rows are the
// pitches apart, generations follow each other. Sizes fit kernels' 32-bit arithmetic: product.cc
// cuts larger batches.
struct ProductJob {
  const std::uint8_t* coefficients;
  const std::uint8_t* source;
  std::uint8_t* out;
  std::size_t source_pitch, out_pitch;
  int n, m, k;
  int generations;
};

// tables.cu
Status launch_table_product(const ProductJob& job, void* stream);

// mma.cu: any n. Pitches and pointers of blocks are multiples of 16. A block of threads takes
// 8 row_warps rows (row_warps: 2, 4 or 8) and 512 / row_warps positions.
Status launch_mma_product(const ProductJob& job, int row_warps, void* stream);

// wgmma_resident.cu: n <= 128. Pitches and pointers of blocks are multiples of 16.
inline constexpr int kResidentSizeMax = 128;
Status launch_resident_wgmma_product(const ProductJob& job, int multiprocessors, void* stream);

// wgmma_streamed.cu: any n, meant for n > 128. `expanded` takes expanded_bytes() for all
// generations of the job, 256-byte aligned.
std::size_t expanded_bytes(int n, int m);  // per generation
Status launch_streamed_wgmma_product(const ProductJob& job, std::uint8_t* expanded,
                                     int multiprocessors, void* stream);

// tower.cu: the same by three products in GF(2^4) for each byte; `expanded` takes tower_bytes().
std::size_t tower_bytes(int n, int m);  // per generation
Status launch_tower_wgmma_product(const ProductJob& job, std::uint8_t* expanded,
                                  int multiprocessors, void* stream);

}  // namespace firn::cuda
