// The hash of block checks (codec/check_key.h) on the binary tensor cores of Ampere, Ada and
// Hopper: tags of many blocks that are in the device's memory.
//
// H as a whole is a matrix over GF(2^8): byte j of a tag is sum_p M[p][j] x[p] over the positions p
// of the payload, where position a of group i has
//     M[128 i + a][j] = sum_d bit_d(r_i z^(127 - a)) T[d][j].
// So M of a group is a product of bits: the word r_i shifted by 127 - a (256 bits), and the planes
// of T's columns. And H is a product of bits of the payloads as they stand (rows) and of M, each
// coefficient an 8 x 8 matrix of bits (bit_tiles.cuh), as columns: 8 t columns, each an output bit.
// For 128 bytes of a block that is 8 t x 1024 bit products, and M of a group takes 8 t x 128 x 256
// once for all blocks of a generation.
//
// A block of 8 warps takes steps of 256 positions. In each, every warp expands M of 32 positions of
// the next step into shared memory, and multiplies its share of this one's: 32 blocks and some of
// the step's four chunks of 64 positions. Payloads go from memory to registers, 16 bytes of a row
// at a time: the instruction's order of positions is free as long as both operands agree. Sums are
// counts, of which the parity matters; so they may overflow.
//
// Columns: bit b of byte j = 4 w + q of a tag is column 32 w + 8 (b / 2) + 4 (b % 2) + q, so that
// the threads that expand M for q = 0..3 store into different banks. A column's chunk is 64 bytes,
// in pieces of 16 that stand in the order piece ^ (column & 2).
//
// Keys are secret: no branch depends on them, and addresses only within the table of matrices, in
// which every thread has banks of its own.
#include <cuda_runtime.h>

#include <algorithm>

#include "cuda_kernels/batch/gf256.cuh"
#include "cuda_kernels/hash/launch.h"
#include "cuda_kernels/product/bit_tiles.cuh"
#include "cuda_kernels/runtime/cuda_check.h"

namespace firn::cuda {
namespace {

__device__ const BitMatrices kBitMatrices = make_bit_matrices();

constexpr int kThreads = 256, kWarps = 8;
constexpr int kGroup = 128, kWordBytes = 16, kTableRows = 256;  // codec::CheckKey
constexpr int kChunk = 64, kChunks = kTagStep / kChunk;
constexpr int kRows = 2;           // of 16 blocks, of a warp
constexpr int kMatrixCopies = 16;  // one for each thread of half a warp

template <int kWords>
struct Shared {
  static constexpr int kColumns = 32 * kWords;
  std::uint64_t matrices[256 * kMatrixCopies];
  std::uint8_t columns[2][kChunks][kColumns * kChunk];  // M of this step and of the next
  std::uint32_t planes[4 * kWords * 64];                // of T: Planes
};

// sums += A (16 x 256 bits) and B (8 x 256 bits), counted.
__device__ __forceinline__ void mma_and_popc(int (&sums)[4], std::uint32_t a0, std::uint32_t a1,
                                             std::uint32_t a2, std::uint32_t a3, std::uint32_t b0,
                                             std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc {%0, %1, %2, %3}, "
      "{%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+r"(sums[0]), "+r"(sums[1]), "+r"(sums[2]), "+r"(sums[3])
      : "r"(a0), "r"(a1), "r"(a2), "r"(a3), "r"(b0), "r"(b1));
}

// --- the key ---

// Bit c of T[d][4 w + j], d = 0..255, is a column of 8 words: column 2 j + c % 2 of tile
// 4 w + c / 2. Thread 4 column + x of a warp takes the words x and 4 + x of it, as a pair.
template <int kWords>
__device__ void bring_planes(Shared<kWords>& shared, const std::uint8_t* table, int tag_bytes) {
  const int lane = threadIdx.x & 31, x = threadIdx.x >> 5;
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    const std::uint32_t row =
        __ldg(reinterpret_cast<const std::uint32_t*>(table + (32 * x + lane) * tag_bytes) + w);
    std::uint32_t plane = 0;
#pragma unroll
    for (int bit = 0; bit < 32; ++bit) {
      const std::uint32_t ballot = __ballot_sync(~0u, row >> bit & 1);
      if (lane == bit) plane = ballot;
    }
    const int j = lane >> 3, c = lane & 7;
    const int tile = 4 * w + (c >> 1), column = 2 * j + (c & 1);
    shared.planes[(tile * 32 + column * 4 + (x & 3)) * 2 + (x >> 2)] = plane;
  }
}

// What a thread needs of the words r of one step: of the group that its warp's 32 positions lie in.
// With shift 127 - a = 32 (3 - a / 32) + (31 - a % 32), the words x and 4 + x of the shifted r are
// made of two neighbours each.
struct KeyWords {
  std::uint32_t low[2], high[2];

  __device__ __forceinline__ void load(const std::uint8_t* words, int step, int groups) {
    const int warp = threadIdx.x >> 5, x = threadIdx.x & 3;
    const int group = step * (kTagStep / kGroup) + (warp >> 2), at = x - 3 + (warp & 3);
    const auto* r = reinterpret_cast<const std::uint32_t*>(words) + 4 * static_cast<long>(group);
    const auto word = [&](int y) { return group < groups && y >= 0 && y < 4 ? __ldg(r + y) : 0; };
    low[0] = word(at - 1), low[1] = word(at);
    high[0] = word(at + 3), high[1] = word(at + 4);
  }
};

// M of this warp's 32 positions of a step into `columns`: a thread makes byte 4 w + lane % 4 of 4
// neighbouring positions.
template <int kWords>
__device__ __forceinline__ void expand(const Shared<kWords>& shared, const KeyWords& r,
                                       std::uint8_t* columns) {
  const int warp = threadIdx.x >> 5, lane = threadIdx.x & 31, row = lane >> 2, q = lane & 3;
  std::uint32_t a[4][2];
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const int shift = 31 - (4 * row + i);
    a[i][0] = __funnelshift_l(r.low[0], r.low[1], shift);
    a[i][1] = __funnelshift_l(r.high[0], r.high[1], shift);
  }
  columns += (warp >> 1) * Shared<kWords>::kColumns * kChunk;
  const int piece = (warp & 1) * 2 + (row >> 2);
  columns += q * kChunk + ((piece ^ (q & 2)) << 4) + (row & 3) * 4;
  const auto* planes = reinterpret_cast<const uint2*>(shared.planes) + lane;
#pragma unroll
  for (int w = 0; w < kWords; ++w) {
    std::uint32_t four = 0;  // M of the 4 positions
#pragma unroll
    for (int s = 3; s >= 0; --s) {
      const uint2 b = planes[(4 * w + s) * 32];
      int first[4] = {}, second[4] = {};
      mma_and_popc(first, a[0][0], a[1][0], a[0][1], a[1][1], b.x, b.y);
      mma_and_popc(second, a[2][0], a[3][0], a[2][1], a[3][1], b.x, b.y);
#pragma unroll
      for (int e = 1; e >= 0; --e) {
        const auto even = static_cast<std::uint32_t>(second[e] * 65536 + first[e]);
        const auto odd = static_cast<std::uint32_t>(second[2 + e] * 65536 + first[2 + e]);
        four = four * 2 + (__byte_perm(even, odd, 0x6240) & 0x01010101u);
      }
    }
    std::uint32_t bits[8];
    expand_coefficients<kMatrixCopies>(shared.matrices + (lane & (kMatrixCopies - 1)), four, bits);
#pragma unroll
    for (int b = 0; b < 8; ++b) {
      const int column = 32 * w + 8 * (b >> 1) + 4 * (b & 1);  // and q
      *reinterpret_cast<std::uint32_t*>(columns + column * kChunk) = bits[b];
    }
  }
}

// --- the blocks ---

// 16 bytes of a block from position `at` on, zeros beyond its k bytes.
__device__ __forceinline__ uint4 load_payload(const std::uint8_t* block, int at, int k,
                                              bool aligned) {
  if (aligned && at + 16 <= k) return __ldcs(reinterpret_cast<const uint4*>(block + at));
  uint4 piece = make_uint4(0, 0, 0, 0);
#pragma unroll 1
  for (int i = 15; i >= 0; --i) {
    const std::uint32_t byte = at + i < k ? block[at + i] : 0;
    piece.w = __funnelshift_l(piece.z, piece.w, 8);
    piece.z = __funnelshift_l(piece.y, piece.z, 8);
    piece.y = __funnelshift_l(piece.x, piece.y, 8);
    piece.x = piece.x << 8 | byte;
  }
  return piece;
}

// The blocks of a warp, 32 or fewer.
struct Payloads {
  const std::uint8_t* first;  // of this thread: others are 8, 16 and 24 behind it
  std::size_t pitch;
  int left, k;  // `left`: blocks from the first on
  bool aligned;

  __device__ __forceinline__ void load(int step, int chunk, uint4 (&pieces)[2 * kRows]) const {
    const int at = step * kTagStep + chunk * kChunk + (threadIdx.x & 3) * 16;
#pragma unroll
    for (int i = 0; i < 2 * kRows; ++i) {
      pieces[i] = 8 * i < left ? load_payload(first + 8 * i * pitch, at, k, aligned)
                               : make_uint4(0, 0, 0, 0);
    }
  }
};

template <int kTiles>
__device__ __forceinline__ void multiply(const std::uint8_t* columns,
                                         const uint4 (&pieces)[2 * kRows],
                                         int (&sums)[kRows][kTiles][4]) {
  const int row = threadIdx.x >> 2 & 7, q = threadIdx.x & 3;
  columns += row * kChunk + ((q ^ (row & 2)) << 4);
#pragma unroll
  for (int tile = 0; tile < kTiles; ++tile) {
    const uint4 b = *reinterpret_cast<const uint4*>(columns + tile * 8 * kChunk);
#pragma unroll
    for (int m = 0; m < kRows; ++m) {
      const uint4 &x = pieces[2 * m], &y = pieces[2 * m + 1];
      mma_and_popc(sums[m][tile], x.x, y.x, x.y, y.y, b.x, b.y);
      mma_and_popc(sums[m][tile], x.z, y.z, x.w, y.w, b.z, b.w);
    }
  }
}

// Adds the parities to the tags. `tags`: words of this pass in the tag of the thread's first block,
// `pitch` words from tag to tag.
template <int kWords>
__device__ __forceinline__ void add_parities(const int (&sums)[kRows][4 * kWords][4],
                                             std::uint32_t* tags, int pitch, int left) {
  const int q = threadIdx.x & 3;
#pragma unroll
  for (int i = 0; i < 2 * kRows; ++i) {
    std::uint32_t mine = 0;
#pragma unroll
    for (int w = 0; w < kWords; ++w) {
      std::uint32_t word = 0;
#pragma unroll
      for (int s = 0; s < 4; ++s) {
        const int* of_row = sums[i >> 1][4 * w + s] + 2 * (i & 1);
        word |= (of_row[0] & 1u) << (2 * s) | (of_row[1] & 1u) << (8 + 2 * s);
      }
      word <<= 16 * (q & 1) + (q >> 1);
      word |= __shfl_xor_sync(~0u, word, 1);
      word |= __shfl_xor_sync(~0u, word, 2);
      if (q == w) mine = word;
    }
    if (q < kWords && 8 * i < left) atomicXor(tags + 8 * i * pitch + q, mine);
  }
}

// What of the job this block of threads does.
struct Part {
  std::size_t generation;
  int chunk, pass, begin, end;  // steps

  __device__ explicit Part(const TagJob& job) {
    int unit = static_cast<int>(blockIdx.x);
    begin = unit % job.splits * job.steps;
    end = min(begin + job.steps, (job.k + kTagStep - 1) / kTagStep);
    unit /= job.splits;
    pass = unit % job.passes;
    unit /= job.passes;
    chunk = unit % job.chunks;
    generation = unit / job.chunks;
  }
};

// Where the generation's key has its words, and its table.
struct Key {
  int groups;
  const std::uint8_t *words, *table;

  __device__ Key(const TagJob& job, std::size_t generation) {
    groups = (job.k + kGroup - 1) / kGroup;
    const std::size_t word_bytes = static_cast<std::size_t>(groups) * kWordBytes;
    words = job.keys + generation * (word_bytes + kTableRows * job.tag_bytes);
    table = words + word_bytes;
  }
};

template <int kWords>
__global__ void __launch_bounds__(kThreads, 2) hash_blocks(TagJob job) {
  extern __shared__ __align__(16) std::uint8_t raw[];
  auto& shared = *reinterpret_cast<Shared<kWords>*>(raw);
  const Part part(job);
  const Key key(job, part.generation);
  KeyWords r;
  r.load(key.words, part.begin, key.groups);
  for (int i = threadIdx.x; i < 256 * kMatrixCopies; i += kThreads)
    shared.matrices[i] = kBitMatrices.of[i / kMatrixCopies];
  bring_planes<kWords>(shared, key.table + part.pass * 4 * kWords, job.tag_bytes);
  __syncthreads();

  const int warp = threadIdx.x >> 5, row = threadIdx.x >> 2 & 7;
  const int warp_of_blocks = warp & ((1 << job.warps_shift) - 1);
  const int first_chunk = warp >> job.warps_shift, chunks_apart = kWarps >> job.warps_shift;
  const int block = ((part.chunk << job.warps_shift) + warp_of_blocks) * 16 * kRows + row;
  const std::size_t at = part.generation * job.n + block;
  const Payloads payloads{job.blocks + at * job.pitch, job.pitch, job.n - block, job.k,
                          job.aligned};
  uint4 next[2 * kRows];
  payloads.load(part.begin, first_chunk, next);
  expand<kWords>(shared, r, shared.columns[part.begin & 1][0]);
  if (part.begin + 1 < part.end) r.load(key.words, part.begin + 1, key.groups);
  __syncthreads();

  int sums[kRows][4 * kWords][4] = {};
#pragma unroll 1
  for (int step = part.begin; step < part.end; ++step) {
    if (step + 1 < part.end) {
      expand<kWords>(shared, r, shared.columns[step + 1 & 1][0]);
      if (step + 2 < part.end) r.load(key.words, step + 2, key.groups);
    }
#pragma unroll 1
    for (int chunk = first_chunk; chunk < kChunks; chunk += chunks_apart) {
      uint4 pieces[2 * kRows];
#pragma unroll
      for (int i = 0; i < 2 * kRows; ++i) pieces[i] = next[i];
      const bool last = chunk + chunks_apart >= kChunks;
      if (!last || step + 1 < part.end)
        payloads.load(last ? step + 1 : step, last ? first_chunk : chunk + chunks_apart, next);
      multiply<4 * kWords>(shared.columns[step & 1][chunk], pieces, sums);
    }
    __syncthreads();
  }
  const int pitch = job.tag_bytes / 4;
  add_parities<kWords>(sums,
                       reinterpret_cast<std::uint32_t*>(job.tags) + at * pitch + part.pass * kWords,
                       pitch, job.n - block);
}

template <int kWords>
Status launch(const TagJob& job, cudaStream_t stream) {
  constexpr int kBytes = sizeof(Shared<kWords>);
  if (Status s = checked(cudaFuncSetAttribute(hash_blocks<kWords>,
                                              cudaFuncAttributeMaxDynamicSharedMemorySize, kBytes),
                         "shared memory of hash_blocks");
      !s.ok())
    return s;
  const int blocks = job.generations * job.chunks * job.passes * job.splits;
  hash_blocks<kWords><<<blocks, kThreads, kBytes, stream>>>(job);
  return launched("hash_blocks");
}

}  // namespace

Status launch_tag_hash(const TagJob& job, void* stream) {
  const auto queue = static_cast<cudaStream_t>(stream);
  return job.tag_bytes == 4 ? launch<1>(job, queue) : launch<2>(job, queue);
}

}  // namespace firn::cuda
