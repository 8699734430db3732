// The product on Hopper's binary tensor cores with streaming coefficients (wgmma_streamed.cuh),
// by three products in GF(2^4) for each product of bytes (tower_field.h): 48 bit products instead
// of 64. Where power or the tensor cores are the limit this is faster; taking data apart and
// putting results together costs more, so it is for large n.
//
// Plane p of B has, for each position and source, the four coordinates of the data byte's u, v or
// u + v; a byte holds two sources, 16 apart. Tile q of A makes coordinates 2 (q % 2) and 2 (q % 2)
// + 1 of plane q / 2's sum of products. The 12 coordinates of an output byte are gathered with the
// bytes they stand for.
#include <utility>

#include "cuda_kernels/product/tower_field.h"
#include "cuda_kernels/product/wgmma_streamed.cuh"

namespace firn::cuda {
namespace {

using namespace streamed;

__device__ const TowerMatrices kMatrices = make_tower_matrices();

struct Outputs {
  std::uint32_t of[12];
};
constexpr Outputs make_outputs() {
  Outputs outputs{};
  const auto bytes = make_tower_outputs();
  for (int i = 0; i < 12; ++i) outputs.of[i] = bytes[static_cast<std::size_t>(i)];
  return outputs;
}
__constant__ const Outputs kOutputs = make_outputs();

template <std::size_t kDiagonal>
constexpr std::uint32_t kDiagonalMask = make_tower_diagonals()[kDiagonal] * 0x01010101u;

// The part of four bytes that a diagonal moves: nothing for most of them.
template <int kDiagonal>
__device__ __forceinline__ std::uint32_t moved(std::uint32_t bytes) {
  constexpr std::uint32_t kMask = kDiagonalMask<kDiagonal>;
  if constexpr (kMask == 0) {
    return 0;
  } else if constexpr (kDiagonal >= 7) {
    return bytes << (kDiagonal - 7) & kMask;
  } else {
    return bytes >> (7 - kDiagonal) & kMask;
  }
}

// u's coordinates in the low and v's in the high half of each of four bytes.
template <int... kDiagonals>
__device__ __forceinline__ std::uint32_t take_apart(std::uint32_t bytes,
                                                    std::integer_sequence<int, kDiagonals...>) {
  return (moved<kDiagonals>(bytes) ^ ...);
}
__device__ __forceinline__ std::uint32_t take_apart(std::uint32_t bytes) {
  return take_apart(bytes, std::make_integer_sequence<int, 15>());
}

template <int kHalvesOfPositions>
struct Tower {
  static constexpr int kTiles = 6, kPlanes = 3, kTilePlanes = 1, kStages = 4;
  static constexpr int kPieces = 8, kHalves = kHalvesOfPositions;
  __device__ static constexpr int plane(int tile) { return tile >> 1; }

  // 32 sources, of which `count` exist.
  __device__ static __forceinline__ void bring(const DataLane& lane, const std::uint8_t* from,
                                               std::size_t pitch, int count, std::uint8_t* b,
                                               int piece) {
    std::uint32_t low[16], high[16] = {};
    DataLane::load(from, pitch, count, low);
    if (count > 16) DataLane::load(from + 16 * pitch, pitch, count - 16, high);
#pragma unroll
    for (int i = 0; i < 16; ++i) {
      const std::uint32_t first = take_apart(low[i]), second = take_apart(high[i]);
      low[i] = (first & 0x0f0f0f0fu) | (second << 4 & 0xf0f0f0f0u);
      high[i] = (first >> 4 & 0x0f0f0f0fu) | (second & 0xf0f0f0f0u);
    }
    uint4 pieces[4];
    lane.transpose(low, pieces);
    lane.store(b, piece, pieces);
    lane.transpose(high, pieces);
    lane.store(b + kPlaneBytes, piece, pieces);
#pragma unroll
    for (int i = 0; i < 16; ++i) low[i] ^= high[i];
    lane.transpose(low, pieces);
    lane.store(b + 2 * kPlaneBytes, piece, pieces);
  }

  template <int kSums>
  __device__ static __forceinline__ void gather(const int (&sums)[kSums],
                                                std::uint32_t (&words)[kSums / 8], int tile) {
    const std::uint32_t bytes[2] = {kOutputs.of[2 * tile], kOutputs.of[2 * tile + 1]};
#pragma unroll
    for (int i = 0; i < kSums / 8; ++i) {
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        const int* s = sums + 8 * i + 2 * h;
        const auto even =
            static_cast<std::uint32_t>(s[4]) * 65536u + static_cast<std::uint32_t>(s[0]);
        const auto odd =
            static_cast<std::uint32_t>(s[5]) * 65536u + static_cast<std::uint32_t>(s[1]);
        words[i] ^= (__byte_perm(even, odd, 0x6240) & 0x01010101u) * bytes[h];
      }
    }
  }
};

constexpr int kTiles = Tower<1>::kTiles;

// Expanded A: [generation][chunk][row step][q = 0..5][32-row group][64 rows][128 bytes]; byte 16 p
// + i of a row has sources 32 p + i and, in its high half, 32 p + 16 + i. Grid: x over 32 rows, y
// over chunks, z over generations. A warp expands one row's 256 coefficients at a time.
__global__ void __launch_bounds__(256)
    expand_coefficient_towers(ProductJob job, std::uint8_t* expanded, int chunks, int rows) {
  __shared__ std::uint64_t matrices[256];
  matrices[threadIdx.x] = kMatrices.of[threadIdx.x];
  __syncthreads();
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const std::size_t g = blockIdx.z;
  const std::uint8_t* c = job.coefficients + g * job.m * job.n;
  const bool aligned =
      ((reinterpret_cast<std::uintptr_t>(job.coefficients) | static_cast<unsigned>(job.n)) & 3) ==
      0;
  const int column = static_cast<int>(blockIdx.y) * kChunk + lane / 4 * 32 + lane % 4 * 4;
  std::uint8_t* to = expanded + (g * chunks + blockIdx.y) *
                                    (static_cast<std::size_t>(rows) / 32 * (kTiles * kHalfTile));
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int row = (blockIdx.x * 4 + i) * 8 + warp;
    std::uint32_t four[2] = {0, 0};
    if (row < job.m) {
      const std::uint8_t* from = c + static_cast<std::size_t>(row) * job.n;
      four[0] = load_coefficients(from, column, job.n, aligned);
      four[1] = load_coefficients(from, column + 16, job.n, aligned);
    }
    // even[b], odd[b]: for the b-th of four bytes of each row, half bytes 0, 2, 4, .. and 1, 3, ..
    constexpr std::uint64_t kLow = 0x0f0f0f0f0f0full;
    std::uint64_t even[4], odd[4];
#pragma unroll
    for (int b = 0; b < 4; ++b) {
      const std::uint64_t first = matrices[four[0] >> 8 * b & 255];
      const std::uint64_t second = matrices[four[1] >> 8 * b & 255];
      even[b] = (first & kLow) | (second & kLow) << 4;
      odd[b] = (first >> 4 & kLow) | (second & kLow << 4);
    }
    const int group = row / 32, tile_row = row / 8 % 4 * 16 + row % 8;
#pragma unroll
    for (int q = 0; q < kTiles; ++q) {
      std::uint32_t words[2] = {0, 0};
#pragma unroll
      for (int b = 0; b < 4; ++b) {
        words[0] |= static_cast<std::uint32_t>(even[b] >> 8 * q & 255) << 8 * b;
        words[1] |= static_cast<std::uint32_t>(odd[b] >> 8 * q & 255) << 8 * b;
      }
      const int tile = (group / 2 * kTiles + q) * 2 + group % 2;
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        *reinterpret_cast<std::uint32_t*>(to + static_cast<std::size_t>(tile) * kHalfTile +
                                          swizzled_word(tile_row + 8 * h, lane)) = words[h];
      }
    }
  }
}

template <int kHalves>
__global__ void __launch_bounds__(Layout<Tower<kHalves>>::kThreads, 1)
    tower_wgmma_product(StreamJob job) {
  extern __shared__ std::uint8_t raw[];
  multiply_streamed<Tower<kHalves>>(job, raw);
}

}  // namespace

std::size_t tower_bytes(int n, int m) {
  return expanded_bytes_of<Tower<1>>(n, m);
}

Status launch_tower_wgmma_product(const ProductJob& job, std::uint8_t* expanded,
                                  int multiprocessors, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  const StreamJob work = make_job(job, expanded, multiprocessors);
  const int rows = work.row_steps * kRowStep;
  const dim3 grid(static_cast<unsigned>(rows / 32), static_cast<unsigned>(work.chunks),
                  static_cast<unsigned>(job.generations));
  expand_coefficient_towers<<<grid, 256, 0, queue>>>(job, expanded, work.chunks, rows);
  if (Status s = launched("expand_coefficient_towers"); !s.ok()) return s;
  // Data are brought once and then serve all rows.
  if (job.m <= 256) {
    return launch<Tower<1>>(tower_wgmma_product<1>, "tower_wgmma_product", work, multiprocessors,
                            queue);
  }
  return launch<Tower<2>>(tower_wgmma_product<2>, "tower_wgmma_product", work, multiprocessors,
                          queue);
}

}  // namespace firn::cuda
