// Forms of the product's kernel for n <= 128 with data as rows (wgmma_resident_rows.cuh) that leave
// parts out. The whole form is the kernel's: what changes there changes here.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda_kernels/product/wgmma_resident_rows.cuh"
#include "left_out_parts.cuh"

namespace firn::cuda::resident {

template <int kSteps, unsigned kLeftOut>
class PartialWorker {
  using L = Layout<kSteps>;

 public:
  __device__ PartialWorker(const ProductJob& job, const Grid& grid, std::uint8_t* shared,
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
        if constexpr ((kLeftOut & kBringing) == 0) {
          wait_for_copies();
          meet_warpgroup(warpgroup_);
          chunk_.take(a);
          meet_warpgroup(warpgroup_);
          order(run, unit, generation, chunk + L::kTeamWarpgroups);
        } else {
          make_up(a);
        }
        multiply(generation, first_row, chunk * L::kPositions, a);
      }
    }
  }

 private:
  // Queues the copying of a chunk, or, where the unit has no such chunk, of the next unit's.
  __device__ __forceinline__ void order(const Run& run, int unit, int generation, int chunk) const {
    if constexpr ((kLeftOut & (kLoads | kBringing)) != 0) return;
    if (chunk >= run.end_of(unit, grid_)) {
      ++unit, chunk = member_;
      if (unit >= run.end_unit || chunk >= run.end_of(unit, grid_)) return;
      generation = unit / grid_.row_groups;
    }
    chunk_.order(job_, generation, chunk * L::kPositions);
  }

  // Something like data: zeros would take less power.
  __device__ __forceinline__ void make_up(std::uint32_t (&a)[L::kTiles][kSteps][4]) const {
#pragma unroll
    for (int i = 0; i < L::kTiles * kSteps * 4; ++i) {
      a[i / (kSteps * 4)][i / 4 % kSteps][i % 4] =
          (threadIdx.x * 32 + i + 1) * 0x9e3779b9u ^ 0x85ebca6bu * threadIdx.x;
    }
  }

  // One chunk by all columns.
  __device__ __forceinline__ void multiply(int generation, int first_row, int first_position,
                                           const std::uint32_t (&a)[L::kTiles][kSteps][4]) const {
    const bool gathers = has<kLeftOut>(kParities, job_), stores = has<kLeftOut>(kStores, job_);
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
        if (!gathers) continue;
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
      if (!stores) continue;
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

template <int kSteps, unsigned kLeftOut>
__global__ void __launch_bounds__(kThreads, 1) partial_rows_product(ProductJob job, Grid grid) {
  using L = Layout<kSteps>;
  extern __shared__ std::uint8_t raw[];
  const std::uint32_t raw_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(raw));
  const std::uint32_t address = (raw_address + 1023) & ~1023u;
  std::uint8_t* shared = raw + (address - raw_address);
  if (threadIdx.x < 256) {
    reinterpret_cast<std::uint64_t*>(shared + L::kMatrices)[threadIdx.x] =
        kBitMatrices.of[threadIdx.x];
  }
  if constexpr ((kLeftOut & kLoads) != 0) {  // something like data
    auto* words = reinterpret_cast<std::uint32_t*>(shared + L::kChunks);
    for (int i = threadIdx.x; i < kWarpgroups * L::kChunkBytes / 4; i += kThreads) {
      words[i] = (i + 1) * 0x9e3779b9u ^ i * 0x85ebca6bu;
    }
  }
  __syncthreads();
  PartialWorker<kSteps, kLeftOut>(job, grid, shared, address).run();
}

// On `multiprocessors` of them at most.
template <int kSteps, unsigned kLeftOut>
Status launch_partial(const ProductJob& job, int multiprocessors, cudaStream_t stream) {
  using L = Layout<kSteps>;
  Grid grid;
  grid.row_groups = (job.m + L::kRows - 1) / L::kRows;
  grid.chunks = (job.k + L::kPositions - 1) / L::kPositions;
  grid.total = job.generations * grid.row_groups * grid.chunks;
  const int blocks = std::min(multiprocessors, grid.total);
  std::fill_n(grid.half_word, 4, kHalfWord);
  grid.teams = std::min(blocks * L::kTeams, grid.total);
  const cudaError_t error =
      cudaFuncSetAttribute(partial_rows_product<kSteps, kLeftOut>,
                           cudaFuncAttributeMaxDynamicSharedMemorySize, L::kBytes);
  if (Status s = checked(error, "shared memory of partial_rows_product"); !s.ok()) return s;
  partial_rows_product<kSteps, kLeftOut><<<blocks, kThreads, L::kBytes, stream>>>(job, grid);
  return launched("partial_rows_product");
}

}  // namespace firn::cuda::resident
