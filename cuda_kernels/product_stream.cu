// The product for n > 128 on Hopper's binary tensor cores: the coefficients do not fit in shared
// memory as bits (8 n bytes for each of 8 m rows), so a first kernel expands them into global
// memory once, in the order and layout in which the second streams them in, from the second-level
// cache for all but the first blocks of threads. bit_tiles.cuh says how the product becomes one of
// bits.
//
// Sources are taken in chunks of 256. A unit of work is 256 positions of one generation: its data
// are brought into B chunk by chunk; then all rows of A pass, 64 output rows (four pairs of tiles)
// at a time, one of two warpgroups multiplying while the other gathers parities. With several
// chunks the sums meet in the output: each thread adds to what it wrote before.
//
// The third warpgroup has one thread that orders A's tiles ahead (bulk copies into a ring) and two
// warps that transpose data.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda_kernels/bit_tiles.cuh"
#include "cuda_kernels/cuda_check.h"
#include "cuda_kernels/gf256.cuh"
#include "cuda_kernels/kernels.h"
#include "cuda_kernels/wgmma.cuh"

namespace firn::cuda {
namespace {

__device__ const BitMatrices kBitMatrices = make_bit_matrices();

constexpr int kChunk = 256;          // sources
constexpr int kRowStep = 64;         // output rows
constexpr int kPositions = 256;      // of a unit
constexpr int kHalfTile = 64 * 128;  // 64 rows of A, 128 sources
constexpr int kTileBytes = kChunk / 128 * kHalfTile;
constexpr int kHalfBuffer = kPositions * 128;  // B for 128 sources
constexpr int kBufferBytes = kChunk / 128 * kHalfBuffer;
constexpr int kBuffers = 2, kStages = 6;
constexpr int kThreads = 384, kProducer = 256;  // first thread of the third warpgroup

constexpr int kB = 0, kA = kBuffers * kBufferBytes, kBarriers = kA + kStages * kTileBytes;
constexpr int kSharedBytes = kBarriers + 256 + 1024;

// Named barriers: a consumer warpgroup's turn to multiply.
constexpr int kTurn = 1;

struct StreamJob {
  ProductJob product;
  const std::uint8_t* expanded;
  int chunks;     // of sources
  int row_steps;  // groups of 64 output rows
  int units_per_generation, units;
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

// Addresses of the barriers in shared memory.
struct Barriers {
  std::uint32_t full_a, empty_a;  // kStages each
  std::uint32_t full_b, empty_b;  // kBuffers each
  __device__ explicit Barriers(std::uint32_t at)
      : full_a(at),
        empty_a(at + 8 * kStages),
        full_b(at + 16 * kStages),
        empty_b(at + 16 * kStages + 8 * kBuffers) {}
};

// One thread: keeps the ring of A's tiles full.
__device__ void order_tiles(const StreamJob& job, const Barriers& barriers, std::uint32_t a) {
  const int tiles = job.chunks * job.row_steps * 8;
  int stage = 0;
  std::uint32_t phase = 0;
  for (int unit = blockIdx.x; unit < job.units; unit += gridDim.x) {
    const std::uint8_t* from =
        job.expanded +
        static_cast<std::size_t>(unit / job.units_per_generation) * tiles * kTileBytes;
    for (int tile = 0; tile < tiles; ++tile) {
      mbarrier_wait(barriers.empty_a + 8 * stage, phase ^ 1);
      mbarrier_arrive_expecting(barriers.full_a + 8 * stage, kTileBytes);
      bulk_copy(a + stage * kTileBytes, from, kTileBytes, barriers.full_a + 8 * stage);
      from += kTileBytes;
      if (++stage == kStages) stage = 0, phase ^= 1;
    }
  }
}

// Two warps: bring chunks of data into B.
__device__ void bring_data(const StreamJob& job, const Barriers& barriers, std::uint8_t* b,
                           int warp) {
  const ProductJob& p = job.product;
  const DataLane lane(threadIdx.x & 31, warp * 2);
  int filled = 0;
  for (int unit = blockIdx.x; unit < job.units; unit += gridDim.x) {
    const int g = unit / job.units_per_generation;
    const int at = (unit - g * job.units_per_generation) * kPositions + lane.column();
    const std::uint8_t* column =
        p.source + static_cast<std::size_t>(g) * p.n * p.source_pitch + (at < p.k ? at : 0);
    for (int chunk = 0; chunk < job.chunks; ++chunk, ++filled) {
      const int buffer = filled % kBuffers;
      mbarrier_wait(barriers.empty_b + 8 * buffer, (filled / kBuffers & 1) ^ 1);
#pragma unroll 1
      for (int piece = 0; piece < kChunk / 16; ++piece) {
        const int source = chunk * kChunk + piece * 16;
        if (source >= p.n) break;  // A has zeros there
        std::uint32_t words[16];
        DataLane::load(column + source * p.source_pitch, p.source_pitch, p.n - source, words);
        uint4 pieces[4];
        lane.transpose(words, pieces);
        lane.store(b + buffer * kBufferBytes + piece / 8 * kHalfBuffer, piece % 8, pieces);
      }
      fence_async_proxy();
      __syncwarp();
      if ((threadIdx.x & 31) == 0) mbarrier_arrive(barriers.full_b + 8 * buffer);
    }
  }
}

// Queues sums of a tile of A (64 rows, 256 sources) and a buffer of B. The last half step is a
// group of its own, so that the other warpgroup's turn comes just before the tensor cores run dry.
__device__ __forceinline__ void multiply(int (&sums)[128], std::uint32_t a, std::uint32_t b) {
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < 8; ++step) {
    wgmma_and_popc_n256(sums, descriptor(a + step / 4 * (kHalfTile / 16) + step % 4 * 2),
                        descriptor(b + step / 4 * (kHalfBuffer / 16) + step % 4 * 2), step != 0);
    if (step == 5) wgmma_commit();
  }
  wgmma_commit();
}

// A consumer warpgroup: rows 32 group .. 32 group + 31 of each 64.
class Consumer {
 public:
  __device__ Consumer(const StreamJob& job, const Barriers& barriers, std::uint32_t shared_address,
                      int group)
      : job_(job),
        barriers_(barriers),
        group_(group),
        stage_(group),
        lane_(threadIdx.x & 31),
        a_(descriptor_low(shared_address + kA)),
        b_(descriptor_low(shared_address + kB)) {}

  __device__ void run() {
    if (group_ == 1) barrier_arrive(kTurn, 256);
    for (int unit = blockIdx.x; unit < job_.units; unit += gridDim.x) {
      const int g = unit / job_.units_per_generation;
      const int first = (unit - g * job_.units_per_generation) * kPositions;
      const bool last = unit + static_cast<int>(gridDim.x) >= job_.units;
      if (first + kPositions <= job_.product.k) {
        multiply_unit<true>(g, first, last);
      } else {
        multiply_unit<false>(g, first, last);
      }
    }
  }

 private:
  // All rows of 256 positions, chunk of sources by chunk. kWhole: all the positions exist.
  template <bool kWhole>
  __device__ __forceinline__ void multiply_unit(int g, int first, bool last_unit) {
    const ProductJob& p = job_.product;
    const int at = first + (lane_ & 3) * 16;
    const int first_row = group_ * 32 + (threadIdx.x >> 5 & 3) * 8 + (lane_ >> 2);
    std::uint8_t* first_out = p.out + (static_cast<std::size_t>(g) * p.m + first_row) * p.out_pitch;
    for (int chunk = 0; chunk < job_.chunks; ++chunk) {
      const std::uint32_t b = b_ + buffer_ * (kBufferBytes / 16);
      mbarrier_wait(barriers_.full_b + 8 * buffer_, buffer_phase_);
      std::uint8_t* out = first_out;
      int row = first_row;
#pragma unroll 1
      for (int row_step = 0; row_step < job_.row_steps; ++row_step) {
        const bool last_step = row_step == job_.row_steps - 1;
        std::uint32_t words[16];
        uint4 old[4];
#pragma unroll
        for (int i = 0; i < 16; ++i) words[i] = 0;
#pragma unroll
        for (int v = 0; v < 4; ++v) old[v] = make_uint4(0, 0, 0, 0);
#pragma unroll 1
        for (int q = 3; q >= 0; --q) {
          int sums[128];
          mbarrier_wait(barriers_.full_a + 8 * stage_, stage_phase_);
          barrier_sync(kTurn + group_, 256);
          multiply(sums, a_ + stage_ * (kTileBytes / 16), b);
          if (kWhole && q == 0 && chunk > 0 && row < p.m) {
#pragma unroll
            for (int v = 0; v < 4; ++v) old[v] = *reinterpret_cast<const uint4*>(out + at + 64 * v);
          }
          wgmma_wait<1>();
          const bool last =
              group_ == 1 && q == 0 && last_step && last_unit && chunk == job_.chunks - 1;
          if (!last) barrier_arrive(kTurn + 1 - group_, 256);
          wgmma_wait<0>();
          use_after_wait(sums);
          if (lane_ == 0) mbarrier_arrive(barriers_.empty_a + 8 * stage_);
          stage_ += 2;
          if (stage_ >= kStages) stage_ -= kStages, stage_phase_ ^= 1;
          if (q == 0 && last_step && lane_ == 0) mbarrier_arrive(barriers_.empty_b + 8 * buffer_);
          gather_parities<false>(sums, words);
        }
        if (row < p.m) {
          if constexpr (kWhole) {
#pragma unroll
            for (int v = 0; v < 4; ++v) {
              words[4 * v] ^= old[v].x, words[4 * v + 1] ^= old[v].y;
              words[4 * v + 2] ^= old[v].z, words[4 * v + 3] ^= old[v].w;
            }
            store_pieces<false>(out + at, words);
          } else if (chunk > 0) {
            store_pieces_at_end<true>(out, at, p.k, words);
          } else {
            store_pieces_at_end<false>(out, at, p.k, words);
          }
        }
        row += kRowStep;
        out += kRowStep * p.out_pitch;
      }
      buffer_ ^= 1;
      buffer_phase_ ^= buffer_ == 0;
    }
  }

  static_assert(kBuffers == 2);
  const StreamJob& job_;
  const Barriers& barriers_;
  const int group_;
  int stage_;
  std::uint32_t stage_phase_ = 0;
  int buffer_ = 0;
  std::uint32_t buffer_phase_ = 0;
  const int lane_;
  const std::uint32_t a_, b_;
};

__global__ void __launch_bounds__(kThreads, 1) streamed_wgmma_product(StreamJob job) {
  extern __shared__ std::uint8_t raw[];
  const std::uint32_t raw_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(raw));
  const std::uint32_t address = (raw_address + 1023) & ~1023u;
  std::uint8_t* shared = raw + (address - raw_address);
  const Barriers barriers(address + kBarriers);
  if (threadIdx.x == 0) {
    for (int i = 0; i < kStages; ++i) {
      mbarrier_init(barriers.full_a + 8 * i, 1);
      mbarrier_init(barriers.empty_a + 8 * i, 4);  // a warpgroup's warps
    }
    for (int i = 0; i < kBuffers; ++i) {
      mbarrier_init(barriers.full_b + 8 * i, 2);
      mbarrier_init(barriers.empty_b + 8 * i, 8);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int group = __shfl_sync(~0u, threadIdx.x >> 7, 0);
  if (group == 2) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 72;");
    const int warp = (threadIdx.x - kProducer) >> 5;
    if (warp == 0 && (threadIdx.x & 31) == 0) order_tiles(job, barriers, address + kA);
    if (warp >= 2) bring_data(job, barriers, shared + kB, warp - 2);
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 216;");
    Consumer(job, barriers, address, group).run();
  }
}

int chunks_of(int n) {
  return (n + kChunk - 1) / kChunk;
}
int row_steps_of(int m) {
  return (m + kRowStep - 1) / kRowStep;
}

}  // namespace

std::size_t expanded_bytes(int n, int m) {
  return static_cast<std::size_t>(chunks_of(n)) * row_steps_of(m) * 8 * kTileBytes;
}

Status launch_streamed_wgmma_product(const ProductJob& job, std::uint8_t* expanded,
                                     int multiprocessors, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  StreamJob work{};
  work.product = job;
  work.expanded = expanded;
  work.chunks = chunks_of(job.n);
  work.row_steps = row_steps_of(job.m);
  work.units_per_generation = (job.k + kPositions - 1) / kPositions;
  work.units = work.units_per_generation * job.generations;

  const int rows = work.row_steps * kRowStep;
  const dim3 grid(static_cast<unsigned>(rows * 2 / 32), static_cast<unsigned>(work.chunks),
                  static_cast<unsigned>(job.generations));
  expand_coefficient_bits<<<grid, 256, 0, queue>>>(job, expanded, work.chunks, rows);
  if (Status s = launched("expand_coefficient_bits"); !s.ok()) return s;

  const cudaError_t error = cudaFuncSetAttribute(
      streamed_wgmma_product, cudaFuncAttributeMaxDynamicSharedMemorySize, kSharedBytes);
  if (Status s = checked(error, "shared memory of streamed_wgmma_product"); !s.ok()) return s;
  const int blocks = std::min(multiprocessors, work.units);
  streamed_wgmma_product<<<blocks, kThreads, kSharedBytes, queue>>>(work);
  return launched("streamed_wgmma_product");
}

}  // namespace firn::cuda
