// The product over GF(2^8) as a product of bits, shared by both wgmma kernels.
//
// Multiplication by a coefficient is an 8 x 8 bit matrix, and the data bytes of all sources at one
// position are one row of bits as they stand. So C (m x n bytes) becomes a matrix A of 8m x 8n
// bits, the data are B with one row of 8n bits per position, and bit b of an output byte is the
// parity of the ones in the and of a row of A with a row of B.
//
// A, tiles of 64 rows: output rows come in groups of 32, and tile q of a group holds the bits 2q
// and 2q + 1: tile row 16 w + 8 h + i is bit 2q + h of output row 8 w + i of the group. So the two
// bits of an output row land in the same thread of warp w.
//
// B, rows of a tile: position 64 v + 16 t + 2 x + e stands in row 64 v + 8 x + 2 t + e. So thread t
// of four holds the sums of 16 neighbouring positions, and stores them as one piece.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>

namespace firn::cuda {

// Transposes bytes: out[j] has byte j of each of the four words, the first lowest.
__device__ __forceinline__ void transpose_bytes(const std::uint32_t (&in)[4],
                                                std::uint32_t (&out)[4]) {
  const std::uint32_t low01 = __byte_perm(in[0], in[1], 0x5140),
                      high01 = __byte_perm(in[0], in[1], 0x7362);
  const std::uint32_t low23 = __byte_perm(in[2], in[3], 0x5140),
                      high23 = __byte_perm(in[2], in[3], 0x7362);
  out[0] = __byte_perm(low01, low23, 0x5410);
  out[1] = __byte_perm(low01, low23, 0x7632);
  out[2] = __byte_perm(high01, high23, 0x5410);
  out[3] = __byte_perm(high01, high23, 0x7632);
}

// Four coefficients of one row, from column on; 0 beyond the row's n.
__device__ __forceinline__ std::uint32_t load_coefficients(const std::uint8_t* row, int column,
                                                           int n, bool aligned) {
  if (aligned) {
    return column < n ? __ldg(reinterpret_cast<const std::uint32_t*>(row + column)) : 0;
  }
  std::uint32_t four = 0;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    if (column + i < n) four |= static_cast<std::uint32_t>(row[column + i]) << (8 * i);
  }
  return four;
}

// bits[b] = the rows that make output bit b, a byte for each of the four coefficients. Matrices are
// kApart apart.
template <int kApart = 1>
__device__ __forceinline__ void expand_coefficients(const std::uint64_t* matrices,
                                                    std::uint32_t four, std::uint32_t (&bits)[8]) {
  const std::uint64_t m[4] = {matrices[(four & 255) * kApart], matrices[(four >> 8 & 255) * kApart],
                              matrices[(four >> 16 & 255) * kApart],
                              matrices[(four >> 24) * kApart]};
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    std::uint32_t in[4], out[4];
#pragma unroll
    for (int i = 0; i < 4; ++i) in[i] = static_cast<std::uint32_t>(m[i] >> (32 * half));
    transpose_bytes(in, out);
#pragma unroll
    for (int i = 0; i < 4; ++i) bits[4 * half + i] = out[i];
  }
}

// Where, in a tile of 128-byte rows, the word with columns 4 word .. 4 word + 3 of a row stands.
__device__ __forceinline__ int swizzled_word(int row, int word) {
  return row * 128 + (((word >> 2) ^ (row & 7)) << 4) + (word & 3) * 4;
}

// Bringing data into B. A thread loads the same 4 bytes of 16 sources and stores 16 bytes of 4
// rows. Two of its stores are exchanged in every second thread, against bank conflicts.
class DataLane {
 public:
  // v: 0..3 (which 64 positions) for lanes 0..15, v + 1 for lanes 16..31.
  __device__ DataLane(int lane, int v_of_warp) {
    const int t = lane & 3, x = lane >> 2 & 3, v = v_of_warp + (lane >> 4);
    odd_ = x & 1;
    column_ = 64 * v + 16 * t + 4 * x;
    row_ = 64 * v + 16 * x + 2 * t;
    swizzle_ = 2 * t;
  }
  // The first of this thread's 4 positions in the tile.
  __device__ int column() const { return column_; }

  // The first `count` of 16 sources (more count as 16; those missing repeat the last), from `from`
  // on, `pitch` apart. count > 0.
  __device__ static void load(const std::uint8_t* from, std::size_t pitch, int count,
                              std::uint32_t (&words)[16]) {
    if (count >= 16) {
#pragma unroll
      for (int s = 0; s < 16; ++s) {
        words[s] = __ldg(reinterpret_cast<const std::uint32_t*>(from));
        from += pitch;
      }
    } else {
#pragma unroll
      for (int s = 0; s < 16; ++s) {
        words[s] = __ldg(reinterpret_cast<const std::uint32_t*>(from));
        if (s + 1 < count) from += pitch;
      }
    }
  }

  // The transposed words, as they will be stored: pieces[e] for row(e).
  __device__ void transpose(const std::uint32_t (&words)[16], uint4 (&pieces)[4]) const {
    const std::uint32_t first = odd_ ? 0x7632u : 0x5410u, second = odd_ ? 0x5410u : 0x7632u;
    std::uint32_t out[4][4];
#pragma unroll
    for (int s = 0; s < 4; ++s) {
      const std::uint32_t* w = words + 4 * s;
      const std::uint32_t low01 = __byte_perm(w[0], w[1], 0x5140),
                          high01 = __byte_perm(w[0], w[1], 0x7362);
      const std::uint32_t low23 = __byte_perm(w[2], w[3], 0x5140),
                          high23 = __byte_perm(w[2], w[3], 0x7362);
      out[0][s] = __byte_perm(low01, low23, first), out[1][s] = __byte_perm(low01, low23, second);
      out[2][s] = __byte_perm(high01, high23, first),
      out[3][s] = __byte_perm(high01, high23, second);
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) pieces[e] = make_uint4(out[e][0], out[e][1], out[e][2], out[e][3]);
  }

  // tile: 256 rows of 128 bytes; piece: 0..7, which 16 bytes of each row these sources are.
  __device__ void store(std::uint8_t* tile, int piece, const uint4 (&pieces)[4]) const {
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const int byte = e ^ odd_;  // of the thread's 4
      const int row = row_ + 8 * (byte >> 1) + (byte & 1);
      const int at = piece ^ (swizzle_ + (byte & 1));
      *reinterpret_cast<uint4*>(tile + row * 128 + (at << 4)) = pieces[e];
    }
  }

 private:
  int odd_, column_, row_, swizzle_;
};

// Shifts the parities of one tile's sums into bytes: words[i] holds 4 neighbouring positions, and
// calls for q = 3, 2, 1, 0 bring in bits 7 to 0. Two sums are packed into a word by a
// multiplication or, for the words whose bit of kPermuted (i modulo 4) is set, by a byte
// permutation: on Hopper they go to different pipelines, of which short products keep one too busy.
// Bits come one at a time: when two came at once, as times 4 or both, ptxas 13.0 took a tile's
// first products for its second ones and left them out.
template <unsigned kPermuted, int kSums>
__device__ __forceinline__ void gather_parities(const int (&sums)[kSums], std::uint32_t* words) {
  const auto pack = [](int i, int low, int high) {
    return kPermuted >> (i % 4) & 1
               ? __byte_perm(static_cast<std::uint32_t>(low), static_cast<std::uint32_t>(high),
                             0x5410)
               : static_cast<std::uint32_t>(high) * 65536u + static_cast<std::uint32_t>(low);
  };
#pragma unroll
  for (int i = 0; i < kSums / 8; ++i) {
#pragma unroll
    for (int h = 1; h >= 0; --h) {
      const int* s = sums + 8 * i + 2 * h;
      const std::uint32_t even = pack(i, s[0], s[4]), odd = pack(i, s[1], s[5]);
      words[i] = words[i] * 2 + (__byte_perm(even, odd, 0x6240) & 0x01010101u);
    }
  }
}

// Stores a thread's pieces of a row of k bytes, four words each: piece v, words 4 v .. 4 v + 3, at
// at + 64 v. The row's end may lie among them: nothing is written beyond it. With kAdd, to what
// stands there. Kept short where it is not fast: the loops around this live from the instruction
// cache.
template <bool kAdd, int kWords>
__device__ __forceinline__ void store_pieces_at_end(std::uint8_t* row, int at, int k,
                                                    std::uint32_t (&words)[kWords]) {
#pragma unroll 1
  for (int v = 0; v < kWords / 4; ++v, at += 64) {
#pragma unroll 1
    for (int b = 0; b < 16 && at + b < k; ++b) {
      row[at + b] = static_cast<std::uint8_t>(words[0] ^ (kAdd ? row[at + b] : 0));
      words[0] = __funnelshift_r(words[0], words[1], 8);
      words[1] = __funnelshift_r(words[1], words[2], 8);
      words[2] = __funnelshift_r(words[2], words[3], 8);
      words[3] >>= 8;
    }
#pragma unroll
    for (int i = 0; i < kWords - 4; ++i) words[i] = words[i + 4];
  }
}
// All pieces, to aligned memory. kOnce: they will not be read soon.
template <bool kOnce, int kWords>
__device__ __forceinline__ void store_pieces(std::uint8_t* to,
                                             const std::uint32_t (&words)[kWords]) {
#pragma unroll
  for (int v = 0; v < kWords / 4; ++v) {
    auto* piece = reinterpret_cast<uint4*>(to + 64 * v);
    const uint4 four =
        make_uint4(words[4 * v], words[4 * v + 1], words[4 * v + 2], words[4 * v + 3]);
    if constexpr (kOnce) {
      __stcs(piece, four);
    } else {
      *piece = four;
    }
  }
}

}  // namespace firn::cuda
