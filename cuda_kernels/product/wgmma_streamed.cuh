// The product for any n on Hopper's binary tensor cores, with coefficients that stream: as bits
// they do not fit in shared memory, so a first kernel writes them to global memory once, in the
// order and layout in which the second streams them in, from the second-level cache for all but the
// first blocks of threads. bit_tiles.cuh says how the product becomes one of bits.
//
// A form says which bits are multiplied (wgmma_streamed.cu, tower.cu):
//   kTiles      tiles of A (64 rows) that make 32 output rows
//   kPlanes     rows of B of 128 bytes for each position and 256 sources
//   kTilePlanes the planes that a tile of A meets: plane(tile) and those after it
//   kPieces     tasks of the warps that bring 256 sources for 128 positions; bring() does one
//   gather()    adds what a tile's sums tell to words of 4 positions each, one for every 8 sums
//   kHalves     1: a warpgroup multiplies a tile by all 256 positions, and two take turns
//               2: by half of them, and four warpgroups each go their own way. More warps hide more
//               of gather()'s time, but A is read twice and the warps that bring data have less
//               room: better where gathering takes long against bringing
//
// Sources are taken in chunks of 256. A unit of work is 256 positions of one generation and all of
// its rows or, where that gives the multiprocessors too little to do, a part of them: its data are
// brought into B chunk by chunk; then those rows of A pass, 64 output rows (kTiles pairs of tiles)
// at a time, some warpgroups multiplying while others gather parities. With several chunks the sums
// meet in the output: each thread adds to what it wrote before.
//
// The last warpgroup has one thread that orders A's tiles ahead (bulk copies into a ring) and
// three warps that bring data.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "cuda_kernels/product/bit_tiles.cuh"
#include "cuda_kernels/product/launch.h"
#include "cuda_kernels/product/wgmma_instructions.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda::streamed {

constexpr int kChunk = 256;          // sources
constexpr int kRowStep = 64;         // output rows
constexpr int kPositions = 256;      // of a unit
constexpr int kHalfTile = 64 * 128;  // 64 rows of A, one plane
constexpr int kPlaneBytes = kPositions * 128;
constexpr int kBuffers = 2;
constexpr int kBringers = 3;  // warps

template <typename Form>
struct Layout {
  static constexpr int kConsumers = 256 * Form::kHalves, kThreads = kConsumers + 128;
  static constexpr int kTileBytes = Form::kTilePlanes * kHalfTile;
  static constexpr int kBufferBytes = Form::kPlanes * kPlaneBytes;
  static constexpr int kB = 0, kA = kBuffers * kBufferBytes;
  static constexpr int kBarriers = kA + Form::kStages * kTileBytes;
  static constexpr int kBytes = kBarriers + 256 + 1024;
  static_assert(kBytes <= 227 * 1024);
};

// Named barriers: a consumer warpgroup's turn to multiply.
constexpr int kTurn = 1;

struct StreamJob {
  ProductJob product;
  const std::uint8_t* expanded;
  int chunks;      // of sources
  int row_steps;   // groups of 64 output rows
  int part_steps;  // of them, in a unit; the last part may have fewer
  int part_units;  // units for the positions of one part
  int units_per_generation, units;
};

// What a unit is of.
struct Unit {
  int generation, first_position, first_step, steps;
  __device__ Unit(const StreamJob& job, int unit) {
    generation = unit / job.units_per_generation;
    const int rest = unit - generation * job.units_per_generation;
    const int part = rest / job.part_units;
    first_position = (rest - part * job.part_units) * kPositions;
    first_step = part * job.part_steps;
    steps = min(job.part_steps, job.row_steps - first_step);
  }
};

inline int chunks_of(int n) {
  return (n + kChunk - 1) / kChunk;
}
inline int row_steps_of(int m) {
  return (m + kRowStep - 1) / kRowStep;
}

// Addresses of the barriers in shared memory.
template <int kStages>
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
template <typename Form>
__device__ void order_tiles(const StreamJob& job, const Barriers<Form::kStages>& barriers,
                            std::uint32_t a) {
  constexpr int kTileBytes = Layout<Form>::kTileBytes;
  constexpr int kStepBytes = 2 * Form::kTiles * kTileBytes;
  int stage = 0;
  std::uint32_t phase = 0;
  for (int at = blockIdx.x; at < job.units; at += gridDim.x) {
    const Unit unit(job, at);
    for (int chunk = 0; chunk < job.chunks; ++chunk) {
      const std::size_t step =
          static_cast<std::size_t>(unit.generation * job.chunks + chunk) * job.row_steps +
          unit.first_step;
      const std::uint8_t* from = job.expanded + step * kStepBytes;
      for (int tile = 0; tile < unit.steps * 2 * Form::kTiles; ++tile) {
        mbarrier_wait(barriers.empty_a + 8 * stage, phase ^ 1);
        mbarrier_arrive_expecting(barriers.full_a + 8 * stage, kTileBytes);
        bulk_copy(a + stage * kTileBytes, from, kTileBytes, barriers.full_a + 8 * stage);
        from += kTileBytes;
        if (++stage == Form::kStages) stage = 0, phase ^= 1;
      }
    }
  }
}

// Three warps: bring chunks of data into B.
template <typename Form>
__device__ void bring_data(const StreamJob& job, const Barriers<Form::kStages>& barriers,
                           std::uint8_t* b, int warp) {
  const ProductJob& p = job.product;
  const DataLane lane(threadIdx.x & 31, 0);
  int filled = 0;
  for (int index = blockIdx.x; index < job.units; index += gridDim.x) {
    const Unit unit(job, index);
    const int at = unit.first_position + lane.column();
    const std::uint8_t* source =
        p.source + static_cast<std::size_t>(unit.generation) * p.n * p.source_pitch;
    for (int chunk = 0; chunk < job.chunks; ++chunk, ++filled) {
      const int buffer = filled % kBuffers;
      mbarrier_wait(barriers.empty_b + 8 * buffer, (filled / kBuffers & 1) ^ 1);
#pragma unroll 1
      for (int task = warp; task < 2 * Form::kPieces; task += kBringers) {
        const int piece = task / 2, half = task % 2;
        const int first = chunk * kChunk + piece * (kChunk / Form::kPieces);
        if (first >= p.n) break;  // A has zeros there
        const int column = at + half * 128;
        Form::bring(lane, source + first * p.source_pitch + (column < p.k ? column : 0),
                    p.source_pitch, p.n - first,
                    b + buffer * Layout<Form>::kBufferBytes + half * (kPlaneBytes / 2), piece);
      }
      fence_async_proxy();
      __syncwarp();
      if ((threadIdx.x & 31) == 0) mbarrier_arrive(barriers.full_b + 8 * buffer);
    }
  }
}

__device__ __forceinline__ void multiply_step(int (&sums)[128], std::uint32_t a, std::uint32_t b,
                                              int accumulate) {
  wgmma_and_popc_n256(sums, descriptor(a), descriptor(b), accumulate);
}
__device__ __forceinline__ void multiply_step(int (&sums)[64], std::uint32_t a, std::uint32_t b,
                                              int accumulate) {
  wgmma_and_popc_n128(sums, descriptor(a), descriptor(b), accumulate);
}

// Queues sums of a tile of A and the planes of B that it meets. The last step or two are a group of
// their own, so that the other warpgroup's turn comes just before the tensor cores run dry.
template <int kTilePlanes, int kSums>
__device__ __forceinline__ void multiply(int (&sums)[kSums], std::uint32_t a, std::uint32_t b) {
  constexpr int kSteps = 4 * kTilePlanes;
  wgmma_fence();
#pragma unroll
  for (int step = 0; step < kSteps; ++step) {
    multiply_step(sums, a + step / 4 * (kHalfTile / 16) + step % 4 * 2,
                  b + step / 4 * (kPlaneBytes / 16) + step % 4 * 2, step != 0);
    if (step == kSteps - 1 - kTilePlanes) wgmma_commit();
  }
  wgmma_commit();
}

// A consumer warpgroup: rows 32 group .. 32 group + 31 of each 64, all positions or a half of them.
template <typename Form>
class Consumer {
  using L = Layout<Form>;
  static constexpr bool kTurns = Form::kHalves == 1;
  static constexpr int kSums = 128 / Form::kHalves, kWords = kSums / 8, kVectors = kWords / 4;

 public:
  __device__ Consumer(const StreamJob& job, const Barriers<Form::kStages>& barriers,
                      std::uint32_t shared_address, int warpgroup)
      : job_(job),
        barriers_(barriers),
        group_(warpgroup & 1),
        first_(warpgroup / 2 * 128),
        stage_(group_),
        lane_(threadIdx.x & 31),
        a_(descriptor_low(shared_address + L::kA)),
        b_(descriptor_low(shared_address + L::kB) + first_ * (128 / 16)) {}

  __device__ void run() {
    if (kTurns && group_ == 1) barrier_arrive(kTurn, 256);
    for (int index = blockIdx.x; index < job_.units; index += gridDim.x) {
      const Unit unit(job_, index);
      const bool last = index + static_cast<int>(gridDim.x) >= job_.units;
      if (unit.first_position + kPositions <= job_.product.k) {
        multiply_unit<true>(unit, last);
      } else {
        multiply_unit<false>(unit, last);
      }
    }
  }

 private:
  // The unit's rows, chunk of sources by chunk. kWhole: all its positions exist.
  template <bool kWhole>
  __device__ __forceinline__ void multiply_unit(const Unit& unit, bool last_unit) {
    const ProductJob& p = job_.product;
    const int at = unit.first_position + first_ + (lane_ & 3) * 16;
    const int first_row =
        unit.first_step * kRowStep + group_ * 32 + (threadIdx.x >> 5 & 3) * 8 + (lane_ >> 2);
    std::uint8_t* first_out =
        p.out + (static_cast<std::size_t>(unit.generation) * p.m + first_row) * p.out_pitch;
    for (int chunk = 0; chunk < job_.chunks; ++chunk) {
      const std::uint32_t b = b_ + buffer_ * (L::kBufferBytes / 16);
      mbarrier_wait(barriers_.full_b + 8 * buffer_, buffer_phase_);
      std::uint8_t* out = first_out;
      int row = first_row;
#pragma unroll 1
      for (int row_step = 0; row_step < unit.steps; ++row_step) {
        const bool last_step = row_step == unit.steps - 1;
        std::uint32_t words[kWords] = {};
        uint4 old[kVectors] = {};
#pragma unroll
        for (int tile = 0; tile < Form::kTiles; ++tile) {
          const bool last_tile = tile == Form::kTiles - 1;
          int sums[kSums];
          mbarrier_wait(barriers_.full_a + 8 * stage_, stage_phase_);
          if constexpr (kTurns) barrier_sync(kTurn + group_, 256);
          multiply<Form::kTilePlanes>(sums, a_ + stage_ * (L::kTileBytes / 16),
                                      b + Form::plane(tile) * (kPlaneBytes / 16));
          if (kWhole && last_tile && chunk > 0 && row < p.m) {
#pragma unroll
            for (int v = 0; v < kVectors; ++v) {
              old[v] = *reinterpret_cast<const uint4*>(out + at + 64 * v);
            }
          }
          if constexpr (kTurns) {
            wgmma_wait<1>();
            const bool last =
                group_ == 1 && last_tile && last_step && last_unit && chunk == job_.chunks - 1;
            if (!last) barrier_arrive(kTurn + 1 - group_, 256);
          }
          wgmma_wait<0>();
          use_after_wait(sums);
          if (lane_ == 0) mbarrier_arrive(barriers_.empty_a + 8 * stage_);
          stage_ += 2;
          if (stage_ >= Form::kStages) stage_ -= Form::kStages, stage_phase_ ^= 1;
          if (last_tile && last_step && lane_ == 0) {
            mbarrier_arrive(barriers_.empty_b + 8 * buffer_);
          }
          Form::gather(sums, words, tile);
        }
        if (row < p.m) store<kWhole>(out, at, chunk, words, old);
        row += kRowStep;
        out += kRowStep * p.out_pitch;
      }
      buffer_ ^= 1;
      buffer_phase_ ^= buffer_ == 0;
    }
  }

  // This thread's positions of a row, added to what chunks before this one left there.
  template <bool kWhole>
  __device__ __forceinline__ void store(std::uint8_t* out, int at, int chunk,
                                        std::uint32_t (&words)[kWords],
                                        const uint4 (&old)[kVectors]) const {
    if constexpr (kWhole) {
#pragma unroll
      for (int v = 0; v < kVectors; ++v) {
        words[4 * v] ^= old[v].x, words[4 * v + 1] ^= old[v].y;
        words[4 * v + 2] ^= old[v].z, words[4 * v + 3] ^= old[v].w;
      }
      store_pieces<false>(out + at, words);
    } else if (chunk > 0) {
      store_pieces_at_end<true>(out, at, job_.product.k, words);
    } else {
      store_pieces_at_end<false>(out, at, job_.product.k, words);
    }
  }

  static_assert(kBuffers == 2 && Form::kStages % 2 == 0);
  const StreamJob& job_;
  const Barriers<Form::kStages>& barriers_;
  const int group_, first_;  // rows' group; first position
  int stage_;
  std::uint32_t stage_phase_ = 0;
  int buffer_ = 0;
  std::uint32_t buffer_phase_ = 0;
  const int lane_;
  const std::uint32_t a_, b_;
};

// The work of a block of threads.
template <typename Form>
__device__ __forceinline__ void multiply_streamed(const StreamJob& job, std::uint8_t* raw) {
  using L = Layout<Form>;
  const std::uint32_t raw_address = static_cast<std::uint32_t>(__cvta_generic_to_shared(raw));
  const std::uint32_t address = (raw_address + 1023) & ~1023u;
  std::uint8_t* shared = raw + (address - raw_address);
  const Barriers<Form::kStages> barriers(address + L::kBarriers);
  if (threadIdx.x == 0) {
    for (int i = 0; i < Form::kStages; ++i) {
      mbarrier_init(barriers.full_a + 8 * i, 1);
      mbarrier_init(barriers.empty_a + 8 * i, 4 * Form::kHalves);  // warps of a group of rows
    }
    for (int i = 0; i < kBuffers; ++i) {
      mbarrier_init(barriers.full_b + 8 * i, kBringers);
      mbarrier_init(barriers.empty_b + 8 * i, L::kConsumers / 32);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const int warpgroup = __shfl_sync(~0u, threadIdx.x >> 7, 0);
  // Registers change hands: no more of them than the kernel started with in all (168 or 96 a
  // thread), or consumers would wait for the rest for ever.
  if (warpgroup == L::kConsumers / 128) {
    if constexpr (Form::kHalves == 1) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 72;");
    } else {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 64;");
    }
    const int warp = (threadIdx.x - L::kConsumers) >> 5;
    if (warp == 0) {
      if ((threadIdx.x & 31) == 0) order_tiles<Form>(job, barriers, address + L::kA);
    } else {
      bring_data<Form>(job, barriers, shared + L::kB, warp - 1);
    }
  } else {
    if constexpr (Form::kHalves == 1) {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 216;");
    } else {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 104;");
    }
    Consumer<Form>(job, barriers, address, warpgroup).run();
  }
}

// Fills in the job's shape.
inline StreamJob make_job(const ProductJob& job, const std::uint8_t* expanded,
                          int multiprocessors) {
  StreamJob work{};
  work.product = job;
  work.expanded = expanded;
  work.chunks = chunks_of(job.n);
  work.row_steps = row_steps_of(job.m);
  work.part_units = (job.k + kPositions - 1) / kPositions;
  const int whole_units = work.part_units * job.generations;
  const int parts_wanted = std::clamp(multiprocessors / whole_units, 1, work.row_steps);
  work.part_steps = (work.row_steps + parts_wanted - 1) / parts_wanted;
  const int parts = (work.row_steps + work.part_steps - 1) / work.part_steps;
  work.units_per_generation = work.part_units * parts;
  work.units = work.units_per_generation * job.generations;
  return work;
}

// Bytes of a generation's expanded coefficients.
template <typename Form>
std::size_t expanded_bytes_of(int n, int m) {
  return static_cast<std::size_t>(chunks_of(n)) * row_steps_of(m) * 2 * Form::kTiles *
         Layout<Form>::kTileBytes;
}

// Launches a kernel that is multiply_streamed<Form>().
template <typename Form>
Status launch(void (*kernel)(StreamJob), const char* name, const StreamJob& job,
              int multiprocessors, cudaStream_t stream) {
  constexpr int kBytes = Layout<Form>::kBytes;
  const cudaError_t error =
      cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes);
  if (Status s = checked(error, name); !s.ok()) return s;
  kernel<<<std::min(multiprocessors, job.units), Layout<Form>::kThreads, kBytes, stream>>>(job);
  return launched(name);
}

}  // namespace firn::cuda::streamed
