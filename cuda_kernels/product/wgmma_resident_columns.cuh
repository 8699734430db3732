// The product for n <= 128 on Hopper's binary tensor cores, with the coefficients resident in
// shared memory as A and the data as B: for n > 96 and long blocks slightly faster than
// wgmma_resident_rows.cuh. bit_tiles.cuh says how the product becomes one of bits.
//
// A block of threads takes a run of tiles (256 positions of one generation and group of
// rows). Its third warpgroup loads data and transposes bytes into B, a few tiles ahead; the other
// two each multiply half of the rows, with two sets of sums in flight: while the tensor cores fill
// one, the parities of the other are gathered. When the generation or group of rows changes, they
// expand its coefficients into A.
//
// 128 rows by 128 sources by 256 positions. Rows, sources and positions that the shape does not
// have are zeros in A, or computed and not stored.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda_kernels/batch/gf256.cuh"
#include "cuda_kernels/product/bit_tiles.cuh"
#include "cuda_kernels/product/launch.h"
#include "cuda_kernels/product/wgmma_instructions.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::resident_columns {

static __device__ const BitMatrices kBitMatrices = make_bit_matrices();

constexpr int kConsumers = 256, kProducers = 128, kThreads = kConsumers + kProducers;
constexpr int kTileBytes = 64 * 128;     // of A
constexpr int kBufferBytes = 256 * 128;  // of B
constexpr int kItems = 4;                // a producer's pieces of one buffer

struct Layout {
  static constexpr int kSources = 128;
  static constexpr int kRows = 128;
  static constexpr int kPositions = 256;
  static constexpr int kBuffers = 2;
  static constexpr int kA = 0, kB = kRows / 8 * kTileBytes;
  static constexpr int kMatrices = kB + kBuffers * kBufferBytes;
  static constexpr int kBytes = kMatrices + static_cast<int>(sizeof(BitMatrices)) + 1024;

  // Named barriers: each consumer warpgroup's buffer is full; a buffer is empty; consumers meet.
  __device__ static constexpr int full(int buffer, int group) { return 1 + 2 * buffer + group; }
  __device__ static constexpr int empty(int buffer) { return 1 + 2 * kBuffers + buffer; }
  static constexpr int kMeet = 1 + 3 * kBuffers;
};

struct Grid {
  int row_groups;  // of each generation
  int tiles;       // of each generation and group of rows
  int total;       // tiles in all
  __device__ int first() const { return begin(blockIdx.x); }
  __device__ int last() const { return begin(blockIdx.x + 1); }
  __device__ int begin(unsigned block) const {
    return static_cast<int>(static_cast<long long>(total) * block / gridDim.x);
  }
};

// Walks over the items of a block's tiles: item i is piece 2 (i % 4) + warp / 2 of tile i / 4,
// which is 16 sources at 256 positions. Divides once, then counts.
class Items {
  using L = Layout;

 public:
  __device__ Items(const ProductJob& job, const Grid& grid, int warp, const DataLane& lane)
      : job_(job), grid_(grid), lane_(lane), half_(warp >> 1) {
    const int unit = grid.first() / grid.tiles, g = unit / grid.row_groups;
    tile_ = grid.first() - unit * grid.tiles;
    row_group_ = unit - g * grid.row_groups;
    generation_ = job.source + static_cast<std::size_t>(g) * job.n * job.source_pitch;
  }
  __device__ int piece(int item) const { return item % kItems * 2 + half_; }

  // Loads this item's words and goes on to the next.
  __device__ __forceinline__ void load(int item, std::uint32_t (&words)[16]) {
    const int source = piece(item) * 16;
    if (source < job_.n) {  // A has zeros for the others
      const int at = tile_ * L::kPositions + lane_.column();
      DataLane::load(generation_ + source * job_.source_pitch + (at < job_.k ? at : 0),
                     job_.source_pitch, job_.n - source, words);
    }
    if (item % kItems == kItems - 1 && ++tile_ == grid_.tiles) {
      tile_ = 0;
      if (++row_group_ == grid_.row_groups) {
        row_group_ = 0;
        generation_ += job_.n * job_.source_pitch;
      }
    }
  }

 private:
  const ProductJob& job_;
  const Grid& grid_;
  const DataLane& lane_;
  int half_, tile_, row_group_;
  const std::uint8_t* generation_;
};

inline __device__ void produce(const ProductJob& job, const Grid& grid, std::uint8_t* shared) {
  using L = Layout;
  const int warp = (threadIdx.x - kConsumers) >> 5;
  const DataLane lane(threadIdx.x & 31, (warp & 1) * 2);
  const int count = (grid.last() - grid.first()) * kItems;
  Items items(job, grid, warp, lane);

  // Two items are on their way while one is stored: with one the memory's latency is the limit.
  constexpr int kAhead = 2;
  static_assert(kItems % kAhead == 0);
  std::uint32_t words[kAhead][16] = {};
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    if (i < count) items.load(i, words[i]);
  }
  int buffer = 0, filled = 0;
#pragma unroll 1
  for (int first = 0; first < count; first += kItems) {
    if (filled >= L::kBuffers) barrier_sync(L::empty(buffer), kThreads);
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      uint4 pieces[4];
      lane.transpose(words[i % kAhead], pieces);
      if (first + i + kAhead < count) {
        items.load(first + i + kAhead, words[i % kAhead]);
      }
      lane.store(shared + L::kB + buffer * kBufferBytes, items.piece(i), pieces);
    }
    fence_async_proxy();
    barrier_arrive(L::full(buffer, 0), 256);
    barrier_arrive(L::full(buffer, 1), 256);
    buffer = buffer + 1 == L::kBuffers ? 0 : buffer + 1;
    ++filled;
  }
  // Each arrival of the consumers at a barrier needs its counterpart.
  for (int left = min(filled, L::kBuffers); left > 0; --left) {
    barrier_sync(L::empty((filled - left) % L::kBuffers), kThreads);
  }
}

// A = the coefficients of one group of rows. All consumers take part.
inline __device__ void expand(const ProductJob& job, int g, int first_row, std::uint8_t* shared) {
  using L = Layout;
  constexpr int kWords = L::kSources / 4, kRowsAtOnce = kConsumers / kWords;
  const auto* matrices = reinterpret_cast<const std::uint64_t*>(shared + L::kMatrices);
  const int word = threadIdx.x % kWords;
  const std::uint8_t* c = job.coefficients + static_cast<std::size_t>(g) * job.m * job.n;
  const bool aligned =
      ((reinterpret_cast<std::uintptr_t>(job.coefficients) | static_cast<unsigned>(job.n)) & 3) ==
      0;
#pragma unroll 4
  for (int i = threadIdx.x / kWords; i < L::kRows; i += kRowsAtOnce) {
    const int row = first_row + i;
    std::uint32_t four = 0;
    if (row < job.m) {
      four = load_coefficients(c + static_cast<std::size_t>(row) * job.n, 4 * word, job.n, aligned);
    }
    std::uint32_t bits[8];
    expand_coefficients(matrices, four, bits);
#pragma unroll
    for (int bit = 0; bit < 8; ++bit) {
      const int tile = i / 32 * 4 + bit / 2, tile_row = i / 8 % 4 * 16 + bit % 2 * 8 + i % 8;
      *reinterpret_cast<std::uint32_t*>(shared + L::kA + tile * kTileBytes +
                                        swizzled_word(tile_row, word)) = bits[bit];
    }
  }
}

// Queues sums (64 rows of A x 128 rows of B).
__device__ __forceinline__ void multiply(int (&sums)[64], std::uint32_t a, std::uint32_t b) {
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < 4; ++step) {
    wgmma_and_popc_n128(sums, descriptor(a + 2 * step), descriptor(b + 2 * step), step != 0);
  }
  wgmma_commit();
}

// Where in A the tile of a step begins, in descriptors' units. Two rounds of four tiles, highest
// bits first: over groups of 32 rows.
__device__ constexpr int tile_of(int step) {
  return (step / 4 * 8 + 3 - step % 4) * (kTileBytes / 16);
}

__device__ __forceinline__ void clear(std::uint32_t (&words)[16]) {
#pragma unroll
  for (int i = 0; i < 16; ++i) words[i] = 0;
}

// This thread's positions of a row of k bytes, from `at` on. whole: they all exist.
__device__ __forceinline__ void store(std::uint8_t* row, int at, int k, bool whole,
                                      std::uint32_t (&words)[16]) {
  if (whole) {
    store_pieces<true>(row + at, words);
  } else {
    store_pieces_at_end<false>(row, at, k, words);
  }
}

inline __device__ void consume(const ProductJob& job, const Grid& grid, std::uint8_t* shared,
                               std::uint32_t shared_address) {
  using L = Layout;
  constexpr int kTile = kTileBytes / 16, kBuffer = kBufferBytes / 16;  // in descriptors' units
  const int group = __shfl_sync(~0u, threadIdx.x >> 7, 0), warp = threadIdx.x >> 5 & 3;
  const int lane = threadIdx.x & 31;
  reinterpret_cast<std::uint64_t*>(shared + L::kMatrices)[threadIdx.x] =
      kBitMatrices.of[threadIdx.x];
  const std::uint32_t a = descriptor_low(shared_address + L::kA) + group * 4 * kTile;
  const std::uint32_t b0 = descriptor_low(shared_address + L::kB);

  int tile = grid.first(), last = grid.last(), buffer = 0;
  while (tile < last) {
    const int unit = tile / grid.tiles, g = unit / grid.row_groups;
    const int first_row = (unit - g * grid.row_groups) * L::kRows;
    const int unit_end = min(last, (unit + 1) * grid.tiles);
    barrier_sync(L::kMeet, kConsumers);  // no warp reads A any more
    expand(job, g, first_row, shared);
    fence_async_proxy();
    barrier_sync(L::kMeet, kConsumers);

    const int row = first_row + group * 32 + warp * 8 + (lane >> 2);
    std::uint8_t* out = job.out + (static_cast<std::size_t>(g) * job.m + row) * job.out_pitch;
    int at = (tile - unit * grid.tiles) * L::kPositions + (lane & 3) * 16;
#pragma unroll 1
    for (; tile < unit_end; ++tile, at += L::kPositions) {
      const std::uint32_t b = b0 + buffer * kBuffer;
      int sums0[64], sums1[64];  // positions 0..127 and 128..255
      std::uint32_t words[16];
      const bool whole = at - (lane & 3) * 16 + L::kPositions <= job.k;
      barrier_sync(L::full(buffer, group), 256);
      multiply(sums0, a + tile_of(0), b);
#pragma unroll
      for (int step = 0; step < 8; ++step) {
        if (step % 4 == 0) clear(words);
        multiply(sums1, a + tile_of(step), b + kBuffer / 2);
        wgmma_wait<1>();
        use_after_wait(sums0);
        gather_parities<0>(sums0, words);
        if (step < 7) {
          multiply(sums0, a + tile_of(step + 1), b);
          wgmma_wait<1>();
        } else {
          wgmma_wait<0>();
          barrier_arrive(L::empty(buffer), kThreads);
        }
        use_after_wait(sums1);
        gather_parities<0>(sums1, words + 8);
        const int further = step / 4 * 64;  // rows
        if (step % 4 == 3 && row + further < job.m) {
          store(out + further * job.out_pitch, at, job.k, whole, words);
        }
      }
      buffer = buffer + 1 == L::kBuffers ? 0 : buffer + 1;
    }
  }
}

static __global__ void __launch_bounds__(kThreads, 1)
    resident_columns_product(ProductJob job, Grid grid) {
  extern __shared__ std::uint8_t raw[];
  const std::uint32_t raw_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(raw));
  const std::uint32_t address = (raw_address + 1023) & ~1023u;
  std::uint8_t* shared = raw + (address - raw_address);
  // Registers change hands; in all no more than the 168 a thread that the kernel starts with.
  if (__shfl_sync(~0u, threadIdx.x >> 7, 0) == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 104;");
    produce(job, grid, shared);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 200;");
    consume(job, grid, shared, address);
  }
}

// On `multiprocessors` of them at most.
inline Status launch(const ProductJob& job, int multiprocessors, cudaStream_t stream) {
  using L = Layout;
  Grid grid;
  grid.row_groups = (job.m + L::kRows - 1) / L::kRows;
  grid.tiles = (job.k + L::kPositions - 1) / L::kPositions;
  grid.total = job.generations * grid.row_groups * grid.tiles;
  const cudaError_t error = cudaFuncSetAttribute(
      resident_columns_product, cudaFuncAttributeMaxDynamicSharedMemorySize, L::kBytes);
  if (Status s = checked(error, "shared memory of resident_columns_product"); !s.ok()) return s;
  const int blocks = std::min(multiprocessors, grid.total);
  resident_columns_product<<<blocks, kThreads, L::kBytes, stream>>>(job, grid);
  return launched("resident_columns_product");
}

}  // namespace firn::cuda::resident_columns
