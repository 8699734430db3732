// Inversion for n <= 1024, in panels of 32 columns: a panel is eliminated by one block of threads
// per matrix, a row per thread; then its pivot rows are combined into all other columns, which is a
// product by tables (product/tables_tile.cuh) over the whole device:
//   row = (pivot of this panel ? 0 : row) + T old pivot rows
// where T is what elimination left in the panel.
// Matrices are worked on in scratch memory, padded with the identity to a multiple of 32 rows.
#include <cuda_runtime.h>

#include "cuda_kernels/inverse/elimination.cuh"
#include "cuda_kernels/inverse/launch.h"
#include "cuda_kernels/product/tables_tile.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda {
namespace {

__device__ const Logarithms kLogarithms = make_logarithms();

constexpr int kPanel = 32, kPanelWords = kPanel / 4;

__host__ __device__ constexpr int padded_size(int n) {
  return (n + kPanel - 1) / kPanel * kPanel;
}

// One matrix's part of the scratch memory.
struct PanelWork {
  std::uint8_t* matrix;      // size x size
  std::uint8_t* pivot_rows;  // kPanel x size: of the current panel, as they were before it
  std::uint16_t* row_of;     // by column: its pivot row, kFree where it has none
  std::uint16_t* column_of;  // by row: the column it is the pivot of, kFree if of none yet
  std::uint8_t* pivot_now;   // by row: 1 if it is a pivot of the current panel
};
constexpr std::uint16_t kFree = 0xffff;

__host__ __device__ constexpr std::size_t work_bytes(std::size_t size) {
  return (size * size + kPanel * size + 2 * size + 2 * size + size + 255) / 256 * 256;
}

__device__ PanelWork part_of(std::uint8_t* work, std::size_t size, std::size_t g) {
  PanelWork part;
  part.matrix = work + g * work_bytes(size);
  part.pivot_rows = part.matrix + size * size;
  part.row_of = reinterpret_cast<std::uint16_t*>(part.pivot_rows + kPanel * size);
  part.column_of = part.row_of + size;
  part.pivot_now = reinterpret_cast<std::uint8_t*>(part.column_of + size);
  return part;
}

// Grid: x over generations; each block copies its matrix.
__global__ void __launch_bounds__(512) load_padded(InverseJob job, std::uint8_t* work, int size) {
  const PanelWork part = part_of(work, size, blockIdx.x);
  const std::uint8_t* from = job.matrices + static_cast<std::size_t>(blockIdx.x) * job.n * job.n;
  for (int i = threadIdx.x; i < size; i += blockDim.x) part.column_of[i] = kFree;
  for (int r = threadIdx.x / 32; r < size; r += blockDim.x / 32) {
    for (int c = threadIdx.x % 32; c < size; c += 32) {
      part.matrix[r * size + c] = r < job.n && c < job.n ? from[r * job.n + c] : r == c;
    }
  }
}

// Grid: x over generations; a thread per row.
__global__ void __launch_bounds__(1024, 1) eliminate_panel(std::uint8_t* work, int first_column) {
  __shared__ EliminationShared<kPanelWords> shared;
  const int me = threadIdx.x, size = blockDim.x;
  const PanelWork part = part_of(work, size, blockIdx.x);
  prepare(shared, kLogarithms);

  auto* panel =
      reinterpret_cast<uint4*>(part.matrix + static_cast<std::size_t>(me) * size + first_column);
  const uint4 left = panel[0], right = panel[1];
  std::uint32_t row[kPanelWords] = {left.x,  left.y,  left.z,  left.w,
                                    right.x, right.y, right.z, right.w};
  const bool was_used = part.column_of[me] != kFree;
  bool used = was_used;
  int column = 0;
  eliminate<kPanelWords>(shared, row, used, column);
  panel[0] = make_uint4(row[0], row[1], row[2], row[3]);
  panel[1] = make_uint4(row[4], row[5], row[6], row[7]);

  const bool now = used && !was_used;
  part.pivot_now[me] = now;
  if (now) part.column_of[me] = static_cast<std::uint16_t>(first_column + column);
  if (me < kPanel) {
    const int pivot = shared.row_of_column[me];
    part.row_of[first_column + me] = pivot == kNoRow ? kFree : static_cast<std::uint16_t>(pivot);
  }
  // The panel's own columns are copied too, and not used.
  const int words = size / 16;
  for (int i = me; i < kPanel * words; i += size) {
    const int pivot = shared.row_of_column[i / words];
    const uint4 none = make_uint4(0, 0, 0, 0);
    reinterpret_cast<uint4*>(part.pivot_rows)[i] =
        pivot == kNoRow ? none
                        : reinterpret_cast<const uint4*>(
                              part.matrix + static_cast<std::size_t>(pivot) * size)[i % words];
  }
}

// Grid: strips of a row fastest, then groups of rows, then generations.
__global__ void __launch_bounds__(TableTile::kThreads, TableTile::kBlocks)
    update_beside_panel(std::uint8_t* work, int size, int first_column, int strips,
                        int row_groups) {
  __shared__ TableShared shared;
  const int strip = blockIdx.x % strips, row_group = blockIdx.x / strips % row_groups;
  const PanelWork part = part_of(work, size, blockIdx.x / strips / row_groups);
  const auto pitch = static_cast<std::size_t>(size);
  const TableOperands operands{part.matrix + first_column,
                               part.pivot_rows,
                               part.matrix,
                               pitch,
                               pitch,
                               pitch,
                               kPanel,
                               size,
                               size};
  const int first_row = row_group * TableTile::kRows, first_byte = strip * TableTile::kStrip;
  const int row = first_row + first_row_of_mine();
  const int at = first_byte + first_byte_of_mine();
  const bool mine = at < size && (at < first_column || at >= first_column + kPanel);
  uint4 sum[TableTile::kRowsPerHalf];
#pragma unroll
  for (int r = 0; r < TableTile::kRowsPerHalf; ++r) {
    sum[r] = make_uint4(0, 0, 0, 0);
    if (mine && row + r < size && !part.pivot_now[row + r]) {
      sum[r] = *reinterpret_cast<const uint4*>(part.matrix + (row + r) * pitch + at);
    }
  }
  table_product(shared, operands, first_row, first_byte, sum);
#pragma unroll
  for (int r = 0; r < TableTile::kRowsPerHalf; ++r) {
    if (!mine || row + r >= size) break;
    *reinterpret_cast<uint4*>(part.matrix + (row + r) * pitch + at) = sum[r];
  }
}

// Grid: x over generations, y over parts of the rows. With pivot row r(p) for column p:
// inverse[p][r(q)] = matrix[r(p)][q].
__global__ void __launch_bounds__(256) store_inverse(InverseJob job, std::uint8_t* work, int size) {
  const PanelWork part = part_of(work, size, blockIdx.x);
  const std::size_t g = blockIdx.x;
  __shared__ int rank;
  if (threadIdx.x == 0) rank = 0;
  __syncthreads();
  int found = 0;
  for (int r = threadIdx.x; r < job.n; r += blockDim.x) {
    const bool dependent = part.column_of[r] == kFree;
    found += !dependent;
    if (blockIdx.y == 0 && job.dependent != nullptr) job.dependent[g * job.n + r] = dependent;
  }
  atomicAdd(&rank, found);
  __syncthreads();
  if (blockIdx.y == 0 && threadIdx.x == 0) job.ranks[g] = rank;
  if (rank < job.n) return;
  for (int p = blockIdx.y; p < job.n; p += gridDim.y) {
    const std::uint8_t* from = part.matrix + static_cast<std::size_t>(part.row_of[p]) * size;
    std::uint8_t* to = job.inverses + (g * job.n + p) * job.n;
    for (int r = threadIdx.x; r < job.n; r += blockDim.x) to[r] = from[part.column_of[r]];
  }
}

}  // namespace

std::size_t panel_work_bytes(int n) {
  return work_bytes(static_cast<std::size_t>(padded_size(n)));
}

Status launch_panel_inverse(const InverseJob& job, std::uint8_t* work, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  const int size = padded_size(job.n);
  const auto generations = static_cast<unsigned>(job.generations);
  load_padded<<<generations, 512, 0, queue>>>(job, work, size);
  if (Status s = launched("load_padded"); !s.ok()) return s;

  const int strips = (size + TableTile::kStrip - 1) / TableTile::kStrip;
  const int row_groups = (size + TableTile::kRows - 1) / TableTile::kRows;
  for (int column = 0; column < size; column += kPanel) {
    eliminate_panel<<<generations, size, 0, queue>>>(work, column);
    if (Status s = launched("eliminate_panel"); !s.ok()) return s;
    update_beside_panel<<<generations * strips * row_groups, TableTile::kThreads, 0, queue>>>(
        work, size, column, strips, row_groups);
    if (Status s = launched("update_beside_panel"); !s.ok()) return s;
  }
  store_inverse<<<dim3(generations, 16), 256, 0, queue>>>(job, work, size);
  return launched("store_inverse");
}

}  // namespace firn::cuda
