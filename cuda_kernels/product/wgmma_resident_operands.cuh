// What the product for n <= 128 (wgmma_resident_rows.cuh) works on: how its operands lie in shared
// memory, which warpgroup takes what, and how data and coefficients get there.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/batch/gf256.cuh"
#include "cuda_kernels/product/bit_tiles.cuh"
#include "cuda_kernels/product/launch.h"
#include "cuda_kernels/product/wgmma_instructions.cuh"

namespace firn::cuda::resident {

constexpr int kWarpgroups = 4, kThreads = 128 * kWarpgroups;
constexpr int kTileRows = 16;           // output rows of a tile of 128 columns
constexpr int kBlockBytes = 128 * 128;  // 128 columns of up to 1024 bits
constexpr std::uint32_t kHalfWord = 65536;

template <int kSteps>
struct Layout {
  static constexpr int kSources = 32 * kSteps;
  static constexpr int kTeamWarpgroups = kSteps <= 2 ? 1 : kWarpgroups;
  static constexpr int kTeams = kWarpgroups / kTeamWarpgroups;
  static constexpr int kTeamThreads = 128 * kTeamWarpgroups;
  static constexpr int kRows = kSteps <= 2 ? 64 : 128;  // a team's group of output rows
  // Tiles of columns that stand side by side in rows of 128 bytes.
  static constexpr int kAbreast = kSteps <= 2 ? 4 / kSteps : 1;
  static constexpr int kCoefficientBytes = kRows / kTileRows / kAbreast * kBlockBytes;

  static constexpr int kRun = kSteps <= 2 ? 8 : 4;  // neighbouring positions of a thread
  static constexpr int kTiles = kRun / 2;           // of 64 positions
  static constexpr int kWarpPositions = 8 * kRun;
  static constexpr int kPositions = 4 * kWarpPositions;  // of a chunk
  // Of its rows: four that follow each other are 32 bytes apart in the banks.
  static constexpr int kPitch = kPositions + 32;
  static constexpr int kChunkBytes = kSources * kPitch;

  static constexpr int kCoefficients = 0, kChunks = kTeams * kCoefficientBytes;
  static constexpr int kMatrices = kChunks + kWarpgroups * kChunkBytes;
  static constexpr int kBytes = kMatrices + static_cast<int>(sizeof(BitMatrices)) + 1024;
  static_assert(kBytes <= 227 * 1024);

  // Where in the coefficients tile t of columns begins, in descriptors' units.
  __device__ static constexpr int tile_at(int t) {
    return t / kAbreast * (kBlockBytes / 16) + t % kAbreast * (2 * kSteps);
  }
};

// Named barriers: of a warpgroup, of a team.
__device__ __forceinline__ void meet_warpgroup(int warpgroup) {
  barrier_sync(1 + warpgroup, 128);
}
template <int kSteps>
__device__ __forceinline__ void meet_team(int team) {
  barrier_sync(1 + kWarpgroups + team, Layout<kSteps>::kTeamThreads);
}

// A unit is a generation and group of rows, and has `chunks`. Teams take runs of all units' chunks;
// neighbouring runs are on different multiprocessors.
struct Grid {
  int row_groups;              // of each generation
  int chunks;                  // of each unit
  int total;                   // chunks in all
  int teams;                   // that have work
  std::uint32_t half_word[4];  // kHalfWord, see gather_bytes()
  __device__ int begin(int team) const {
    return static_cast<int>(static_cast<long long>(total) * team / teams);
  }
};

// A team's run: from chunk first_chunk of unit first_unit to before chunk last_end of the unit
// before end_unit. Of each unit a member of the team takes every kTeamWarpgroups-th chunk.
struct Run {
  int first_unit, first_chunk, end_unit, last_end;
  __device__ Run(const Grid& grid, int team) {
    const int first = grid.begin(team), end = grid.begin(team + 1);
    first_unit = first / grid.chunks;
    first_chunk = first - first_unit * grid.chunks;
    end_unit = (end - 1) / grid.chunks + 1;
    last_end = end - (end_unit - 1) * grid.chunks;
  }
  __device__ int begin_of(int unit) const { return unit == first_unit ? first_chunk : 0; }
  __device__ int end_of(int unit, const Grid& grid) const {
    return unit == end_unit - 1 ? last_end : grid.chunks;
  }
};

// Up to 16 bytes to shared memory, while other instructions run; the rest of the 16 become zeros.
__device__ __forceinline__ void copy_async(std::uint32_t shared_to, const void* from, int bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_to), "l"(from),
               "r"(bytes)
               : "memory");
}
__device__ __forceinline__ void wait_for_copies() {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

// A chunk's bytes in shared memory, one of each warpgroup. Source 16 t + 4 q + i is row
// 16 t + 4 i + q, so that the four lanes of a position read rows that follow each other.
template <int kSteps>
class Chunk {
  using L = Layout<kSteps>;
  static constexpr int kPieces = L::kPositions / 16, kRowsAtOnce = 128 / kPieces;

 public:
  __device__ Chunk(std::uint8_t* at, int thread)
      : order_row_(thread / kPieces), order_column_(thread % kPieces * 16) {
    const int lane = thread & 31;
    to_ = static_cast<std::uint32_t>(__cvta_generic_to_shared(at)) + order_column_;
    mine_ = at + (lane & 3) * L::kPitch + thread / 32 * L::kWarpPositions + (lane >> 2) * L::kRun;
  }

  // Queues the copying of all rows' positions from first_position on. Reads no byte beyond k.
  __device__ __forceinline__ void order(const ProductJob& job, int generation,
                                        int first_position) const {
    const int at = first_position + order_column_;
    const int bytes = min(job.k - at, 16), sources = at < job.k ? job.n : 0;
    const std::uint8_t* from =
        job.source +
        (static_cast<std::size_t>(generation) * job.n + order_row_) * job.source_pitch + at;
#pragma unroll
    for (int i = 0; i < L::kSources / kRowsAtOnce; ++i) {
      const int source = order_row_ + i * kRowsAtOnce;
      const int row = (source & ~15) + (source & 3) * 4 + (source >> 2 & 3);
      if (source < sources) copy_async(to_ + row * L::kPitch, from, bytes);
      from += kRowsAtOnce * job.source_pitch;
    }
  }

  // This thread's operands of all tiles.
  __device__ __forceinline__ void take(std::uint32_t (&a)[L::kTiles][kSteps][4]) const {
#pragma unroll
    for (int t = 0; t < 2 * kSteps; ++t) {
      std::uint32_t in[L::kRun / 4][4], out[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) {
        const std::uint8_t* from = mine_ + (16 * t + 4 * i) * L::kPitch;
        if constexpr (L::kRun == 8) {
          const uint2 two = *reinterpret_cast<const uint2*>(from);
          in[0][i] = two.x, in[1][i] = two.y;
        } else {
          in[0][i] = *reinterpret_cast<const std::uint32_t*>(from);
        }
      }
#pragma unroll
      for (int v = 0; v < L::kRun / 4; ++v) {
        transpose_bytes(in[v], out);
#pragma unroll
        for (int p = 0; p < 4; ++p) a[2 * v + p / 2][t / 2][t % 2 * 2 + p % 2] = out[p];
      }
    }
  }

 private:
  int order_row_, order_column_;
  std::uint32_t to_;
  const std::uint8_t* mine_;
};

// The coefficients of a unit's rows as bits. All of the team take part.
template <int kSteps>
__device__ void expand(const ProductJob& job, int generation, int first_row, int thread,
                       std::uint8_t* coefficients, const std::uint64_t* matrices) {
  using L = Layout<kSteps>;
  constexpr int kWords = L::kSources / 4;
  const std::uint8_t* c = job.coefficients + static_cast<std::size_t>(generation) * job.m * job.n;
  const bool aligned =
      ((reinterpret_cast<std::uintptr_t>(job.coefficients) | static_cast<unsigned>(job.n)) & 3) ==
      0;
  const int rows = min(L::kRows, (job.m - first_row + kTileRows - 1) / kTileRows * kTileRows);
#pragma unroll 4
  for (int i = thread; i < rows * kWords; i += L::kTeamThreads) {
    const int r = i / kWords, word = i % kWords, row = first_row + r, tile = r / kTileRows;
    std::uint32_t four = 0;
    if (row < job.m) {
      four = load_coefficients(c + static_cast<std::size_t>(row) * job.n, 4 * word, job.n, aligned);
    }
    std::uint32_t bits[8];
    expand_coefficients(matrices, four, bits);
    std::uint8_t* to = coefficients + tile / L::kAbreast * kBlockBytes;
#pragma unroll
    for (int bit = 0; bit < 8; ++bit) {
      const int column = r % kTileRows / 4 * 32 + bit / 2 * 8 + r % 4 * 2 + bit % 2;
      *reinterpret_cast<std::uint32_t*>(
          to + swizzled_word(column, tile % L::kAbreast * kWords + word)) = bits[bit];
    }
  }
}

}  // namespace firn::cuda::resident
