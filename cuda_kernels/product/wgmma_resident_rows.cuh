// The product for n <= 128 on Hopper's binary tensor cores, with the coefficients resident in
// shared memory and the data in registers.
//
// Multiplication by a coefficient is an 8 x 8 bit matrix, and the data bytes of all sources at one
// position are one row of bits as they stand. So C (m x n bytes) becomes 8m columns of 8n bits, the
// data one row of 8n bits for each position, and bit b of an output byte is the parity of the ones
// in the and of a row with a column. Positions are the 64 rows of wgmma, which takes them from
// registers: nothing of the data is written to shared memory twice, and which position stands in
// which row is free. Lane 4 g + q of a warp holds kRun neighbouring positions of four of
// every 16 sources; tile u multiplies positions 2u (row g) and 2u + 1 (row g + 8) of all lanes'
// runs.
//
// Columns are in an order in which a thread gets all bits of its bytes: bit b of output row
// 4 r + q of 16 is column 32 r + 8 (b / 2) + 2 q + b % 2 of 128. So a thread puts whole bytes of
// four rows together and, of all tiles, runs of neighbouring positions.
//
// A warpgroup takes chunks of positions: it copies their bytes to shared memory (cp.async, while
// the chunk before is worked on), transposes them into registers and passes over the columns. Four
// of them go their own way: while some gather parities, others multiply. kSteps: sources by 32. For
// n <= 64 each warpgroup is a team of its own, with its own generation and its coefficients; for
// larger n there is room for one set of coefficients, and all four are a team. Sources that the
// shape does not have are zeros in the coefficients; rows and positions that it does not have are
// computed and not stored.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda_kernels/batch/gf256.cuh"
#include "cuda_kernels/product/launch.h"
#include "cuda_kernels/product/wgmma_instructions.cuh"
#include "cuda_kernels/product/wgmma_resident_operands.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::resident {

static __device__ const BitMatrices kBitMatrices = make_bit_matrices();

// The parities of a product's sums as bytes: bytes[i] has rows 8 i + q and 8 i + 4 + q of the tile,
// two positions of each. Two sums are packed into a word by a multiplication, two such words into
// one by a permutation. half_word is kHalfWord, but of products in the same registers each takes it
// from another place: ptxas 13.0 does not see that a product changes its sums, and where the same
// is done to the same registers again it takes the result from before.
__device__ __forceinline__ void gather_bytes(const int (&sums)[64], std::uint32_t half_word,
                                             std::uint32_t (&bytes)[2]) {
#pragma unroll
  for (int i = 0; i < 2; ++i) bytes[i] = 0;
#pragma unroll
  for (int b = 7; b >= 0; --b) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      std::uint32_t rows[2];
#pragma unroll
      for (int r = 0; r < 2; ++r) {
        const int* s = sums + 4 * (8 * i + 4 * r + b / 2) + b % 2;
        rows[r] = static_cast<std::uint32_t>(s[2]) * half_word + static_cast<std::uint32_t>(s[0]);
      }
      bytes[i] = bytes[i] * 2 + (__byte_perm(rows[0], rows[1], 0x6420) & 0x01010101u);
    }
  }
}

// Stores a run of positions of a row, which all exist.
template <int kWords>
__device__ __forceinline__ void store_run(std::uint8_t* to, const std::uint32_t (&words)[kWords]) {
  if constexpr (kWords == 2) {
    __stcs(reinterpret_cast<uint2*>(to), make_uint2(words[0], words[1]));
  } else {
    __stcs(reinterpret_cast<std::uint32_t*>(to), words[0]);
  }
}
// The first `bytes` of them.
template <int kWords>
__device__ __forceinline__ void store_part(std::uint8_t* to, int bytes,
                                           const std::uint32_t (&words)[kWords]) {
  std::uint32_t low = words[0], high = words[kWords - 1];
#pragma unroll 1
  for (int i = 0; i < bytes; ++i) {
    to[i] = static_cast<std::uint8_t>(low);
    low = __funnelshift_r(low, high, 8);
    high >>= 8;
  }
}

template <int kSteps>
class Worker {
  using L = Layout<kSteps>;

 public:
  __device__ Worker(const ProductJob& job, const Grid& grid, std::uint8_t* shared,
                    std::uint32_t shared_address)
      : job_(job),
        grid_(grid),
        warpgroup_(__shfl_sync(~0u, threadIdx.x >> 7, 0)),
        team_(warpgroup_ / L::kTeamWarpgroups),
        member_(warpgroup_ % L::kTeamWarpgroups),
        shared_(shared),
        b_(descriptor_low(shared_address + L::kCoefficients + team_ * L::kCoefficientBytes)),
        chunk_(shared + L::kChunks + warpgroup_ * L::kChunkBytes, threadIdx.x & 127) {}

  __device__ void run() {
    const int team = team_ * gridDim.x + blockIdx.x;
    if (team >= grid_.teams) return;
    const Run run(grid_, team);
    order(run, run.first_unit, run.first_unit / grid_.row_groups, run.first_chunk + member_);
    for (int unit = run.first_unit; unit < run.end_unit; ++unit) {
      const int generation = unit / grid_.row_groups;
      const int first_row = (unit - generation * grid_.row_groups) * L::kRows;
      meet_team<kSteps>(team_);  // no warp reads the coefficients any more
      expand<kSteps>(job_, generation, first_row, threadIdx.x % L::kTeamThreads,
                     shared_ + L::kCoefficients + team_ * L::kCoefficientBytes,
                     reinterpret_cast<const std::uint64_t*>(shared_ + L::kMatrices));
      fence_async_proxy();
      meet_team<kSteps>(team_);
      const int end = run.end_of(unit, grid_);
      for (int chunk = run.begin_of(unit) + member_; chunk < end; chunk += L::kTeamWarpgroups) {
        std::uint32_t a[L::kTiles][kSteps][4];
        wait_for_copies();
        meet_warpgroup(warpgroup_);
        chunk_.take(a);
        meet_warpgroup(warpgroup_);
        order(run, unit, generation, chunk + L::kTeamWarpgroups);
        multiply(generation, first_row, chunk * L::kPositions, a);
      }
    }
  }

 private:
  // Queues the copying of a chunk, or, where the unit has no such chunk, of the next unit's.
  __device__ __forceinline__ void order(const Run& run, int unit, int generation, int chunk) const {
    if (chunk >= run.end_of(unit, grid_)) {
      ++unit, chunk = member_;
      if (unit >= run.end_unit || chunk >= run.end_of(unit, grid_)) return;
      generation = unit / grid_.row_groups;
    }
    chunk_.order(job_, generation, chunk * L::kPositions);
  }

  // One chunk by all columns.
  __device__ __forceinline__ void multiply(int generation, int first_row, int first_position,
                                           const std::uint32_t (&a)[L::kTiles][kSteps][4]) const {
    const int lane = threadIdx.x & 31;
    const int at =
        first_position + (threadIdx.x >> 5 & 3) * L::kWarpPositions + (lane >> 2) * L::kRun;
    const int row = first_row + (lane & 3);
    std::uint8_t* out =
        job_.out + (static_cast<std::size_t>(generation) * job_.m + row) * job_.out_pitch + at;
    const std::size_t step = 4 * job_.out_pitch;
    const bool whole = at + L::kRun <= job_.k;
    const int part = min(L::kRun, job_.k - at);
    const int rows = min(L::kRows, job_.m - first_row);
#pragma unroll 1
    for (int first = 0; first < rows; first += kTileRows) {
      const std::uint32_t b = b_ + L::tile_at(first / kTileRows);
      std::uint32_t words[4][L::kRun / 4] = {}, before[2] = {};
#pragma unroll
      for (int u = 0; u < L::kTiles; ++u) {
        int sums[64];
        wgmma_fence();
#pragma unroll
        for (int step = 0; step < kSteps; ++step) {
          wgmma_and_popc_n128(sums, a[u][step], descriptor(b + 2 * step), step != 0);
        }
        wgmma_commit();
        wgmma_wait<0>();
        use_after_wait(sums);
        std::uint32_t bytes[2];
        gather_bytes(sums, grid_.half_word[u], bytes);
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          if (u % 2 == 0) {
            before[i] = bytes[i];
          } else {
            words[2 * i][u / 2] = __byte_perm(before[i], bytes[i], 0x5410);
            words[2 * i + 1][u / 2] = __byte_perm(before[i], bytes[i], 0x7632);
          }
        }
      }
      if (whole && first + kTileRows <= rows) {
#pragma unroll
        for (int r = 0; r < 4; ++r, out += step) store_run(out, words[r]);
      } else {
#pragma unroll
        for (int r = 0; r < 4; ++r, out += step) {
          if (first + 4 * r + (lane & 3) >= rows) continue;
          if (whole) {
            store_run(out, words[r]);
          } else {
            store_part(out, part, words[r]);
          }
        }
      }
    }
  }

  const ProductJob& job_;
  const Grid& grid_;
  const int warpgroup_, team_, member_;
  std::uint8_t* shared_;
  const std::uint32_t b_;
  const Chunk<kSteps> chunk_;
};

template <int kSteps>
__global__ void __launch_bounds__(kThreads, 1) resident_wgmma_product(ProductJob job, Grid grid) {
  using L = Layout<kSteps>;
  extern __shared__ std::uint8_t raw[];
  const std::uint32_t raw_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(raw));
  const std::uint32_t address = (raw_address + 1023) & ~1023u;
  std::uint8_t* shared = raw + (address - raw_address);
  if (threadIdx.x < 256) {
    reinterpret_cast<std::uint64_t*>(shared + L::kMatrices)[threadIdx.x] =
        kBitMatrices.of[threadIdx.x];
  }
  __syncthreads();
  Worker<kSteps>(job, grid, shared, address).run();
}

// On `multiprocessors` of them at most.
template <int kSteps>
Status launch(const ProductJob& job, int multiprocessors, cudaStream_t stream) {
  using L = Layout<kSteps>;
  Grid grid;
  grid.row_groups = (job.m + L::kRows - 1) / L::kRows;
  grid.chunks = (job.k + L::kPositions - 1) / L::kPositions;
  grid.total = job.generations * grid.row_groups * grid.chunks;
  const int blocks = std::min(multiprocessors, grid.total);
  std::fill_n(grid.half_word, 4, kHalfWord);
  grid.teams = std::min(blocks * L::kTeams, grid.total);
  const cudaError_t error = cudaFuncSetAttribute(
      resident_wgmma_product<kSteps>, cudaFuncAttributeMaxDynamicSharedMemorySize, L::kBytes);
  if (Status s = checked(error, "shared memory of resident_wgmma_product"); !s.ok()) return s;
  resident_wgmma_product<kSteps><<<blocks, kThreads, L::kBytes, stream>>>(job, grid);
  return launched("resident_wgmma_product");
}

}  // namespace firn::cuda::resident
