// The product that every device can run: see tables_tile.cuh.
#include <algorithm>

#include "cuda_kernels/product/launch.h"
#include "cuda_kernels/product/tables_tile.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda {
namespace {

// Grid: strips of a row fastest, then groups of rows, then generations.
__global__ void __launch_bounds__(TableTile::kThreads, TableTile::kBlocks)
    table_product_kernel(ProductJob job, int strips, int row_groups) {
  __shared__ TableShared shared;
  const int strip = blockIdx.x % strips;
  const int row_group = blockIdx.x / strips % row_groups;
  const std::size_t g = blockIdx.x / strips / row_groups;
  const TableOperands operands{job.coefficients + g * job.m * job.n,
                               job.source + g * job.n * job.source_pitch,
                               job.out + g * job.m * job.out_pitch,
                               static_cast<std::size_t>(job.n),
                               job.source_pitch,
                               job.out_pitch,
                               job.n,
                               job.m,
                               job.k};
  uint4 sum[TableTile::kRowsPerHalf] = {};
  const int first_row = row_group * TableTile::kRows, first_byte = strip * TableTile::kStrip;
  table_product(shared, operands, first_row, first_byte, sum);

  const int row = first_row + first_row_of_mine();
  const int at = first_byte + first_byte_of_mine();
  const bool aligned = aligned_to(operands.out, operands.out_pitch, 16);
#pragma unroll
  for (int r = 0; r < TableTile::kRowsPerHalf; ++r) {
    if (row + r >= job.m) break;
    store_16(operands.out + (row + r) * job.out_pitch, at, job.k, aligned, sum[r]);
  }
}

}  // namespace

Status launch_table_product(const ProductJob& job, void* stream) {
  const int strips = (job.k + TableTile::kStrip - 1) / TableTile::kStrip;
  const int row_groups = (job.m + TableTile::kRows - 1) / TableTile::kRows;
  const unsigned grid = static_cast<unsigned>(strips) * row_groups * job.generations;
  table_product_kernel<<<grid, TableTile::kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      job, strips, row_groups);
  return launched("table_product_kernel");
}

}  // namespace firn::cuda
