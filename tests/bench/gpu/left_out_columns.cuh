// Forms of the product's kernel for n <= 128 with data as columns (wgmma_resident_columns.cuh) that
// leave parts out. The whole form is the kernel's: what changes there changes here.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda_kernels/product/wgmma_resident_columns.cuh"
#include "left_out_parts.cuh"

namespace firn::cuda::resident_columns {

template <unsigned kLeftOut>
__device__ void produce_partial(const ProductJob& job, const Grid& grid, std::uint8_t* shared) {
  using L = Layout;
  const int warp = (threadIdx.x - kConsumers) >> 5;
  const DataLane lane(threadIdx.x & 31, (warp & 1) * 2);
  const int count = (grid.last() - grid.first()) * kItems;
  Items items(job, grid, warp, lane);

  // Two items are on their way while one is stored: with one the memory's latency is the limit.
  constexpr int kAhead = 2;
  constexpr bool kLoad = (kLeftOut & (kLoads | kBringing)) == 0;
  static_assert(kItems % kAhead == 0);
  std::uint32_t words[kAhead][16] = {};
  if constexpr (!kLoad) {  // something like data: zeros would take less power
#pragma unroll
    for (int i = 0; i < 16 * kAhead; ++i) {
      words[i / 16][i % 16] = (threadIdx.x * 32 + i + 1) * 0x9e3779b9u ^ 0x85ebca6bu * threadIdx.x;
    }
  }
#pragma unroll
  for (int i = 0; i < kAhead; ++i) {
    if (kLoad && i < count) items.load(i, words[i]);
  }
  int buffer = 0, filled = 0;
#pragma unroll 1
  for (int first = 0; first < count; first += kItems) {
    if (filled >= L::kBuffers) barrier_sync(L::empty(buffer), kThreads);
#pragma unroll
    for (int i = 0; i < kItems; ++i) {
      if constexpr ((kLeftOut & kBringing) != 0) continue;
      uint4 pieces[4];
      lane.transpose(words[i % kAhead], pieces);
      if (kLoad && first + i + kAhead < count) {
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

template <unsigned kLeftOut>
__device__ void consume_partial(const ProductJob& job, const Grid& grid, std::uint8_t* shared,
                                std::uint32_t shared_address) {
  using L = Layout;
  constexpr int kTile = kTileBytes / 16, kBuffer = kBufferBytes / 16;  // in descriptors' units
  const int group = __shfl_sync(~0u, threadIdx.x >> 7, 0), warp = threadIdx.x >> 5 & 3;
  const int lane = threadIdx.x & 31;
  reinterpret_cast<std::uint64_t*>(shared + L::kMatrices)[threadIdx.x] =
      kBitMatrices.of[threadIdx.x];
  const std::uint32_t a = descriptor_low(shared_address + L::kA) + group * 4 * kTile;
  const std::uint32_t b0 = descriptor_low(shared_address + L::kB);

  const bool gathers = has<kLeftOut>(kParities, job), stores = has<kLeftOut>(kStores, job);

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
        if (gathers) gather_parities<0>(sums0, words);
        if (step < 7) {
          multiply(sums0, a + tile_of(step + 1), b);
          wgmma_wait<1>();
        } else {
          wgmma_wait<0>();
          barrier_arrive(L::empty(buffer), kThreads);
        }
        use_after_wait(sums1);
        if (gathers) gather_parities<0>(sums1, words + 8);
        const int further = step / 4 * 64;  // rows
        if (step % 4 == 3 && stores && row + further < job.m) {
          store(out + further * job.out_pitch, at, job.k, whole, words);
        }
      }
      buffer = buffer + 1 == L::kBuffers ? 0 : buffer + 1;
    }
  }
}

template <unsigned kLeftOut>
__global__ void __launch_bounds__(kThreads, 1) partial_columns_product(ProductJob job, Grid grid) {
  extern __shared__ std::uint8_t raw[];
  const std::uint32_t raw_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(raw));
  const std::uint32_t address = (raw_address + 1023) & ~1023u;
  std::uint8_t* shared = raw + (address - raw_address);
  // Registers change hands; in all no more than the 168 a thread that the kernel starts with.
  if (__shfl_sync(~0u, threadIdx.x >> 7, 0) == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 104;");
    produce_partial<kLeftOut>(job, grid, shared);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 200;");
    consume_partial<kLeftOut>(job, grid, shared, address);
  }
}

// On `multiprocessors` of them at most.
template <unsigned kLeftOut>
Status launch_partial(const ProductJob& job, int multiprocessors, cudaStream_t stream) {
  using L = Layout;
  Grid grid;
  grid.row_groups = (job.m + L::kRows - 1) / L::kRows;
  grid.tiles = (job.k + L::kPositions - 1) / L::kPositions;
  grid.total = job.generations * grid.row_groups * grid.tiles;
  const cudaError_t error = cudaFuncSetAttribute(
      partial_columns_product<kLeftOut>, cudaFuncAttributeMaxDynamicSharedMemorySize, L::kBytes);
  if (Status s = checked(error, "shared memory of partial_columns_product"); !s.ok()) return s;
  const int blocks = std::min(multiprocessors, grid.total);
  partial_columns_product<kLeftOut><<<blocks, kThreads, L::kBytes, stream>>>(job, grid);
  return launched("partial_columns_product");
}

}  // namespace firn::cuda::resident_columns
