// The product on Hopper's binary tensor cores with streaming coefficients (wgmma_streamed.cuh),
// with the bits that bit_tiles.cuh describes: 64 bit products for a product of bytes.
#include "cuda_kernels/batch/gf256.cuh"
#include "cuda_kernels/product/wgmma_streamed.cuh"

namespace firn::cuda {
namespace {

using namespace streamed;

__device__ const BitMatrices kBitMatrices = make_bit_matrices();

struct Bits {
  static constexpr int kTiles = 4, kPlanes = 2, kTilePlanes = 2, kStages = 6;
  static constexpr int kPieces = 16, kHalves = 1;
  __device__ static constexpr int plane(int) { return 0; }

  // 16 sources, of which `count` exist.
  __device__ static __forceinline__ void bring(const DataLane& lane, const std::uint8_t* from,
                                               std::size_t pitch, int count, std::uint8_t* b,
                                               int piece) {
    std::uint32_t words[16];
    DataLane::load(from, pitch, count, words);
    uint4 pieces[4];
    lane.transpose(words, pieces);
    lane.store(b + piece / 8 * kPlaneBytes, piece % 8, pieces);
  }

  __device__ static __forceinline__ void gather(const int (&sums)[128], std::uint32_t (&words)[16],
                                                int) {
    gather_parities<0>(sums, words);
  }
};

// Expanded A: [generation][chunk][row step][q = 3..0][32-row group][128 sources][64 rows][128
// bytes]. Grid: x over 32 (row, 128 sources) pairs of a chunk, y over chunks, z over generations. A
// warp expands one row's 128 coefficients at a time.
__global__ void __launch_bounds__(256)
    expand_coefficient_bits(ProductJob job, std::uint8_t* expanded, int chunks, int rows) {
  __shared__ std::uint64_t matrices[256];
  matrices[threadIdx.x] = kBitMatrices.of[threadIdx.x];
  __syncthreads();
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const std::size_t g = blockIdx.z;
  const std::uint8_t* c = job.coefficients + g * job.m * job.n;
  const bool aligned =
      ((reinterpret_cast<std::uintptr_t>(job.coefficients) | static_cast<unsigned>(job.n)) & 3) ==
      0;
  std::uint8_t* to =
      expanded + (g * chunks + blockIdx.y) * (static_cast<std::size_t>(rows) * 8 * kChunk);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int id = (blockIdx.x * 4 + i) * 8 + warp;
    const int row = id / 2, half = id % 2;
    if (row >= rows) return;
    std::uint32_t four = 0;
    if (row < job.m) {
      four = load_coefficients(c + static_cast<std::size_t>(row) * job.n,
                               static_cast<int>(blockIdx.y) * kChunk + half * 128 + 4 * lane, job.n,
                               aligned);
    }
    std::uint32_t bits[8];
    expand_coefficients(matrices, four, bits);
    const int group = row / 32;
#pragma unroll
    for (int bit = 0; bit < 8; ++bit) {
      const int tile = (group / 2 * 4 + 3 - bit / 2) * 2 + group % 2;
      const int tile_row = row / 8 % 4 * 16 + bit % 2 * 8 + row % 8;
      *reinterpret_cast<std::uint32_t*>(to + static_cast<std::size_t>(tile * 2 + half) * kHalfTile +
                                        swizzled_word(tile_row, lane)) = bits[bit];
    }
  }
}

__global__ void __launch_bounds__(Layout<Bits>::kThreads, 1) streamed_wgmma_product(StreamJob job) {
  extern __shared__ std::uint8_t raw[];
  multiply_streamed<Bits>(job, raw);
}

}  // namespace

std::size_t expanded_bytes(int n, int m) {
  return expanded_bytes_of<Bits>(n, m);
}

Status launch_streamed_wgmma_product(const ProductJob& job, std::uint8_t* expanded,
                                     int multiprocessors, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  const StreamJob work = make_job(job, expanded, multiprocessors);
  const int rows = work.row_steps * kRowStep;
  const dim3 grid(static_cast<unsigned>(rows * 2 / 32), static_cast<unsigned>(work.chunks),
                  static_cast<unsigned>(job.generations));
  expand_coefficient_bits<<<grid, 256, 0, queue>>>(job, expanded, work.chunks, rows);
  if (Status s = launched("expand_coefficient_bits"); !s.ok()) return s;
  return launch<Bits>(streamed_wgmma_product, "streamed_wgmma_product", work, multiprocessors,
                      queue);
}

}  // namespace firn::cuda
