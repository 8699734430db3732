// The product on the binary tensor cores of Ampere, Ada and Hopper by mma.sync (m16n8k256,
// and.popc), for any n. bit_tiles.cuh says how the product becomes one of bits.
//
// A block of 8 warps makes 8 kRowWarps output rows of 512 / kRowWarps positions; a warp makes 8
// output rows (64 rows of A) of 64 positions, which are 128 sums in each thread. Sources come in
// steps of 64. The fragment of A that a thread needs is made of 8 coefficients of one output row,
// and by giving each thread all 8 bits of its row they are expanded in registers and never stored;
// data are transposed into shared memory, two steps deep.
//
// The instruction's order of sources within a step is free as long as A and B agree: thread t of
// four has sources 8 t .. 8 t + 7 of 32, so that it reads them at once.
#include <cuda_runtime.h>

#include "cuda_kernels/batch/gf256.cuh"
#include "cuda_kernels/product/bit_tiles.cuh"
#include "cuda_kernels/product/launch.h"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda {
namespace {

__device__ const BitMatrices kBitMatrices = make_bit_matrices();

constexpr int kThreads = 256, kWarps = 8;
constexpr int kStep = 64;                     // sources brought at once
constexpr int kInstruction = 32;              // sources of one mma
constexpr int kColumns = 64;                  // positions of a warp
constexpr int kRows = 8;                      // output rows of a warp
constexpr int kStepBytes = kColumns * kStep;  // B for one column of warps

// sums += A (16 x 256 bits) and B (8 x 256 bits), counted.
__device__ __forceinline__ void mma_and_popc(int* sums, std::uint32_t a0, std::uint32_t a1,
                                             std::uint32_t a2, std::uint32_t a3, uint2 b) {
  asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b.x), "r"(b.y));
}

// B of one column of warps and 32 sources: a row of 32 bytes for each of 64 positions, position
// 16 t + 2 x + e in row 8 x + 2 t + e. The 8-byte pieces of row r stand in the order piece ^
// (r / 16), and every second thread exchanges two of its stores: no bank conflicts either way.
class Bringer {
 public:
  __device__ explicit Bringer(int warp, int lane)
      : first_source_(warp / 4 * kInstruction + (warp % 4 * 2 + (lane >> 4)) * 4),
        column_((lane & 15) * 4) {
    const int t = lane >> 2 & 3, pair = lane & 3;  // position column_ = 16 t + 4 pair
    odd_ = t >> 1;
    row_ = 16 * pair + 2 * t;
    word_ = ((warp % 4) ^ pair) * 2 + (lane >> 4);
    part_ = warp / 4 * (kStepBytes / 2);
  }

  // The same 4 positions of 4 sources; A has zeros for those beyond n.
  __device__ __forceinline__ void load(const std::uint8_t* source, std::size_t pitch, int step,
                                       int first, int n, int k, std::uint32_t (&words)[4]) const {
    const int j = step + first_source_, at = first + column_;
    if (j >= n) return;
    const std::uint8_t* from = source + static_cast<std::size_t>(j) * pitch + (at < k ? at : 0);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      words[i] = __ldg(reinterpret_cast<const std::uint32_t*>(from));
      if (j + i + 1 < n) from += pitch;
    }
  }

  __device__ __forceinline__ void store(std::uint8_t* b, const std::uint32_t (&words)[4]) const {
    std::uint32_t rows[4];
    transpose_bytes(words, rows);
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int row = row_ + 8 * (i >> 1) + ((i & 1) ^ odd_);
      *reinterpret_cast<std::uint32_t*>(b + part_ + row * 32 + word_ * 4) =
          odd_ ? rows[i ^ 1] : rows[i];
    }
  }

 private:
  int first_source_, column_, odd_, row_, word_, part_;
};

// What a thread multiplies in one step: 8 coefficients of its row for each of two instructions.
struct Coefficients {
  std::uint32_t words[2][2];

  __device__ __forceinline__ void load(const std::uint8_t* row, int step, int n, bool aligned) {
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      const int column = step + i / 2 * kInstruction + (threadIdx.x & 3) * 8 + i % 2 * 4;
      words[i / 2][i % 2] = row != nullptr ? load_coefficients(row, column, n, aligned) : 0;
    }
  }
};

// Adds one step. sums[q]: bits 2 q and 2 q + 1 of the output, as gather_parities() takes them.
__device__ __forceinline__ void multiply_step(const std::uint64_t* matrices, const Coefficients& c,
                                              const std::uint8_t* b, int (&sums)[4][32]) {
  const int row = threadIdx.x >> 2 & 7, t = threadIdx.x & 3;
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    std::uint32_t low[8], high[8];
    expand_coefficients(matrices, c.words[half][0], low);
    expand_coefficients(matrices, c.words[half][1], high);
    const std::uint8_t* rows = b + half * (kStepBytes / 2) + row * 32;
#pragma unroll
    for (int x = 0; x < 8; ++x) {
      const uint2 data = *reinterpret_cast<const uint2*>(rows + x * 256 + ((t ^ (x >> 1)) << 3));
#pragma unroll
      for (int q = 0; q < 4; ++q) {
        mma_and_popc(sums[q] + 4 * x, low[2 * q], low[2 * q + 1], high[2 * q], high[2 * q + 1],
                     data);
      }
    }
  }
}

// Bytes at..at+15 of a row of k bytes; none beyond its end.
__device__ __forceinline__ void store_piece(std::uint8_t* row, int at, int k,
                                            const std::uint32_t (&words)[4]) {
  if (at + 16 <= k) {
    __stcs(reinterpret_cast<uint4*>(row + at), make_uint4(words[0], words[1], words[2], words[3]));
    return;
  }
#pragma unroll
  for (int b = 0; b < 16; ++b) {
    if (at + b < k) row[at + b] = static_cast<std::uint8_t>(words[b / 4] >> (8 * (b % 4)));
  }
}

// Grid: groups of rows fastest, so that a strip of data is read again while it is in the
// second-level cache; then strips, then generations.
template <int kRowWarps>
__global__ void __launch_bounds__(kThreads, 1)
    mma_product(ProductJob job, int row_groups, int strips) {
  constexpr int kColumnWarps = kWarps / kRowWarps;
  __shared__ std::uint64_t matrices[256];
  __shared__ alignas(16) std::uint8_t b[2][kColumnWarps][kStepBytes];
  matrices[threadIdx.x] = kBitMatrices.of[threadIdx.x];
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31;
  const int row_group = blockIdx.x % row_groups, strip = blockIdx.x / row_groups % strips;
  const std::size_t g = blockIdx.x / row_groups / strips;
  const int first = strip * (kColumnWarps * kColumns);
  const int row = (row_group * kRowWarps + warp % kRowWarps) * kRows + (lane >> 2);
  const int my_columns = warp / kRowWarps;

  const std::uint8_t* source = job.source + g * job.n * job.source_pitch;
  const std::uint8_t* coefficients =
      row < job.m ? job.coefficients + (g * job.m + row) * job.n : nullptr;
  const bool aligned =
      ((reinterpret_cast<std::uintptr_t>(job.coefficients) | static_cast<unsigned>(job.n)) & 3) ==
      0;
  const Bringer bringer(warp, lane);
  std::uint32_t words[kColumnWarps][4] = {};
  Coefficients next, now;
  const auto load = [&](int step) {
    next.load(coefficients, step, job.n, aligned);
#pragma unroll
    for (int i = 0; i < kColumnWarps; ++i) {
      bringer.load(source, job.source_pitch, step, first + i * kColumns, job.n, job.k, words[i]);
    }
  };
  const auto store = [&](int buffer) {
    now = next;
#pragma unroll
    for (int i = 0; i < kColumnWarps; ++i) bringer.store(b[buffer][i], words[i]);
    __syncthreads();
  };

  int sums[4][32] = {};
  load(0);
  store(0);
  int buffer = 0;
#pragma unroll 1
  for (int step = 0; step < job.n; step += kStep, buffer ^= 1) {
    const bool more = step + kStep < job.n;
    if (more) load(step + kStep);
    multiply_step(matrices, now, b[buffer][my_columns], sums);
    if (more) store(buffer ^ 1);
  }

  std::uint32_t out[4] = {};
#pragma unroll
  for (int q = 3; q >= 0; --q) gather_parities<0>(sums[q], out);
  if (row < job.m) {
    store_piece(job.out + (g * job.m + row) * job.out_pitch,
                first + my_columns * kColumns + (lane & 3) * 16, job.k, out);
  }
}

template <int kRowWarps>
Status launch(const ProductJob& job, cudaStream_t stream) {
  constexpr int kTileRows = kRows * kRowWarps, kTileColumns = kColumns * (kWarps / kRowWarps);
  const int row_groups = (job.m + kTileRows - 1) / kTileRows;
  const int strips = (job.k + kTileColumns - 1) / kTileColumns;
  const unsigned grid = static_cast<unsigned>(row_groups) * strips * job.generations;
  mma_product<kRowWarps><<<grid, kThreads, 0, stream>>>(job, row_groups, strips);
  return launched("mma_product");
}

}  // namespace

Status launch_mma_product(const ProductJob& job, int row_warps, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  switch (row_warps) {
    case 8:
      return launch<8>(job, queue);
    case 4:
      return launch<4>(job, queue);
    default:
      return launch<2>(job, queue);
  }
}

}  // namespace firn::cuda
