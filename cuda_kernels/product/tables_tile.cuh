// The work of one block of threads in a product by tables: 128 rows by a strip of 256 bytes.
//
// A source word times the 16 values of a low and of a high half byte gives 32 words; they wait in
// shared memory while all 128 rows look up the two that their coefficient names. Half a warp owns
// rows and the whole strip, 16 bytes a lane, so that a look-up reads 512 bytes in a row, without
// bank conflicts. Tables of the next source are built while this one's are read. The form is the
// table-based one of Shojania and Li, "Pushing the Envelope" (2009), turned round: there tables are
// of the field, here they are products of the data.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

#include "cuda_kernels/batch/gf256.cuh"

namespace firn::cuda {

struct TableTile {
  static constexpr int kThreads = 128, kBlocks = 4;  // of a multiprocessor, at least: registers
  static constexpr int kRows = 128;                  // of the result
  static constexpr int kStrip = 256;                 // bytes of each row
  static constexpr int kRowsPerHalf = 16;            // 128 threads are 8 half warps
  static constexpr int kWords = kStrip / 4;
  // Sources whose coefficients are in shared memory at once, and bytes from one source's to the
  // next's: 16 more than rows, so that a warp storing one row's does not meet in one bank.
  static constexpr int kSlab = 32, kSlabPitch = kRows + 16;
};

// The operands, already advanced to one generation.
struct TableOperands {
  const std::uint8_t* coefficients;  // m rows of n bytes, coefficient_pitch apart
  const std::uint8_t* source;        // n rows of k bytes
  std::uint8_t* out;                 // m rows of k bytes
  std::size_t coefficient_pitch, source_pitch, out_pitch;
  int n, m, k;
};

struct TableShared {
  std::uint32_t tables[2][2][16][TableTile::kWords];  // [source & 1][half][value][word]
  alignas(16) std::uint8_t slab[TableTile::kSlab][TableTile::kSlabPitch];
};

__device__ __forceinline__ bool aligned_to(const void* pointer, std::size_t pitch, unsigned bytes) {
  return ((reinterpret_cast<std::uintptr_t>(pointer) | pitch) & (bytes - 1)) == 0;
}

// Bytes at..at+3 of a row of k bytes; those beyond its end are 0.
__device__ __forceinline__ std::uint32_t load_word(const std::uint8_t* row, int at, int k,
                                                   bool aligned) {
  if (aligned && at + 4 <= k) return *reinterpret_cast<const std::uint32_t*>(row + at);
  std::uint32_t word = 0;
#pragma unroll
  for (int b = 0; b < 4; ++b) {
    if (at + b < k) word |= static_cast<std::uint32_t>(row[at + b]) << (8 * b);
  }
  return word;
}

// Bytes at..at+15 of a row of k bytes; none beyond its end.
__device__ __forceinline__ void store_16(std::uint8_t* row, int at, int k, bool aligned,
                                         uint4 bytes) {
  if (aligned && at + 16 <= k) {
    __stcs(reinterpret_cast<uint4*>(row + at), bytes);
    return;
  }
  const std::uint32_t words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
#pragma unroll
  for (int b = 0; b < 16; ++b) {
    if (at + b < k) row[at + b] = static_cast<std::uint8_t>(words[b / 4] >> (8 * (b % 4)));
  }
}

// This thread's half of one source word's products: 16 words.
__device__ __forceinline__ void build_table(TableShared& shared, int source, std::uint32_t word) {
  const int half = threadIdx.x / TableTile::kWords, at = threadIdx.x % TableTile::kWords;
  if (half == 1) word = times_x(times_x(times_x(times_x(word))));
  std::uint32_t product[16];
  product[0] = 0;
#pragma unroll
  for (int bit = 1; bit < 16; bit *= 2) {
    product[bit] = word;
    word = times_x(word);
#pragma unroll
    for (int low = 1; low < bit; ++low) product[bit + low] = product[bit] ^ product[low];
  }
#pragma unroll
  for (int value = 0; value < 16; ++value) {
    shared.tables[source & 1][half][value][at] = product[value];
  }
}

// Coefficients of sources first..first+31 for the tile's rows, transposed; 0 outside the matrix. A
// warp loads a row's at a time, a byte a lane: any alignment, and one line of the first cache.
__device__ __forceinline__ void load_slab(TableShared& shared, const TableOperands& operands,
                                          int first_row, int first) {
  constexpr int kWarps = TableTile::kThreads / 32;
  static_assert(TableTile::kSlab == 32);
  const int warp = threadIdx.x / 32, source = threadIdx.x % 32;
  const std::uint8_t* from = operands.coefficients + first + source;
#pragma unroll 8
  for (int row = warp; row < TableTile::kRows; row += kWarps) {
    const bool inside = first_row + row < operands.m && first + source < operands.n;
    shared.slab[source][row] = inside ? from[(first_row + row) * operands.coefficient_pitch] : 0;
  }
}

// sum[r] ^= products of one source with the coefficients of this half warp's rows.
__device__ __forceinline__ void add_products(const TableShared& shared, int source,
                                             uint4 (&sum)[TableTile::kRowsPerHalf]) {
  const int half_warp = threadIdx.x / 16, lane = threadIdx.x % 16;
  const auto* low = reinterpret_cast<const uint4*>(&shared.tables[source & 1][0][0][0]) + lane;
  const auto* high = reinterpret_cast<const uint4*>(&shared.tables[source & 1][1][0][0]) + lane;
  const uint4 packed = *reinterpret_cast<const uint4*>(
      &shared.slab[source % TableTile::kSlab][half_warp * TableTile::kRowsPerHalf]);
  const std::uint32_t words[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
  for (int r = 0; r < TableTile::kRowsPerHalf; ++r) {
    const std::uint32_t c = words[r / 4] >> (8 * (r % 4));
    const uint4 a = low[(c & 15) * 16], b = high[(c >> 4 & 15) * 16];
    sum[r].x ^= a.x ^ b.x, sum[r].y ^= a.y ^ b.y, sum[r].z ^= a.z ^ b.z, sum[r].w ^= a.w ^ b.w;
  }
}

__device__ __forceinline__ int first_row_of_mine() {
  return static_cast<int>(threadIdx.x) / 16 * TableTile::kRowsPerHalf;
}
__device__ __forceinline__ int first_byte_of_mine() {
  return static_cast<int>(threadIdx.x) % 16 * 16;
}

// Adds the product of the tile at (first_row, first_byte) to `sum`: of this thread's first row + r,
// 16 bytes from its first byte on. All threads of the block take part.
__device__ __forceinline__ void table_product(TableShared& shared, const TableOperands& operands,
                                              int first_row, int first_byte,
                                              uint4 (&sum)[TableTile::kRowsPerHalf]) {
  const int at = first_byte + static_cast<int>(threadIdx.x % TableTile::kWords) * 4;
  const bool aligned = aligned_to(operands.source, operands.source_pitch, 4);
  const auto load = [&](int source) {
    return source < operands.n ? load_word(operands.source + source * operands.source_pitch, at,
                                           operands.k, aligned)
                               : 0u;
  };
  build_table(shared, 0, load(0));
  std::uint32_t next = load(1);
  const bool has_rows = first_row + first_row_of_mine() < operands.m;
  for (int source = 0; source < operands.n; ++source) {
    if (source % TableTile::kSlab == 0) load_slab(shared, operands, first_row, source);
    __syncthreads();
    const std::uint32_t word = next;
    next = load(source + 2);
    if (source + 1 < operands.n) build_table(shared, source + 1, word);
    if (has_rows) add_products(shared, source, sum);
    if (source % TableTile::kSlab == TableTile::kSlab - 1) __syncthreads();
  }
}

}  // namespace firn::cuda
