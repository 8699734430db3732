// Each leaf is a message of one zero byte and the block, so that chunk c of the message begins one
// byte before 64 c of the block: an unaligned load fetches it, and nothing is copied.
#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 says it of its own intrinsics (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include "proto/base/leaf_lanes_avx512.h"

#include <immintrin.h>

namespace firn {
namespace {

constexpr std::size_t kChunk = 64;   // bytes that one step of SHA-256 takes
constexpr std::size_t kTrailer = 9;  // the 0x80 and the length, at least
constexpr std::size_t kWords = 16;   // of a chunk
constexpr std::size_t kStateWords = 8;

constexpr std::uint32_t kInitial[kStateWords] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                                 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
constexpr std::uint32_t kRound[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

// Truth tables of VPTERNLOG: the sum, the choice and the majority of three bits.
constexpr int kSum = 0x96, kChoice = 0xca, kMajority = 0xe8;

inline __m512i add(__m512i a, __m512i b) {
  return _mm512_add_epi32(a, b);
}

// Word w of lane i and word i of lane w change places.
inline __attribute__((always_inline)) void transpose(__m512i (&rows)[kWords]) {
  __m512i quads[kWords];
  for (std::size_t i = 0; i < kWords; i += 4) {
    const __m512i a = _mm512_unpacklo_epi32(rows[i], rows[i + 1]);
    const __m512i b = _mm512_unpackhi_epi32(rows[i], rows[i + 1]);
    const __m512i c = _mm512_unpacklo_epi32(rows[i + 2], rows[i + 3]);
    const __m512i d = _mm512_unpackhi_epi32(rows[i + 2], rows[i + 3]);
    quads[i] = _mm512_unpacklo_epi64(a, c);
    quads[i + 1] = _mm512_unpackhi_epi64(a, c);
    quads[i + 2] = _mm512_unpacklo_epi64(b, d);
    quads[i + 3] = _mm512_unpackhi_epi64(b, d);
  }
  for (std::size_t i = 0; i < 4; ++i) {
    const __m512i a = _mm512_shuffle_i32x4(quads[i], quads[i + 4], 0x88);
    const __m512i b = _mm512_shuffle_i32x4(quads[i], quads[i + 4], 0xdd);
    const __m512i c = _mm512_shuffle_i32x4(quads[i + 8], quads[i + 12], 0x88);
    const __m512i d = _mm512_shuffle_i32x4(quads[i + 8], quads[i + 12], 0xdd);
    rows[i] = _mm512_shuffle_i32x4(a, c, 0x88);
    rows[i + 4] = _mm512_shuffle_i32x4(b, d, 0x88);
    rows[i + 8] = _mm512_shuffle_i32x4(a, c, 0xdd);
    rows[i + 12] = _mm512_shuffle_i32x4(b, d, 0xdd);
  }
}

// SHA-256 keeps its words with the highest byte first.
inline __m512i swap_bytes(__m512i words) {
  const __m128i order = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
  return _mm512_shuffle_epi8(words, _mm512_broadcast_i32x4(order));
}

// Sixteen rounds. `extend`: each word of the schedule, once used, becomes the one sixteen later.
template <bool extend>
inline __attribute__((always_inline)) void sixteen_rounds(__m512i (&state)[kStateWords],
                                                          __m512i (&words)[kWords],
                                                          const std::uint32_t* constants) {
  __m512i a = state[0], b = state[1], c = state[2], d = state[3];
  __m512i e = state[4], f = state[5], g = state[6], h = state[7];
#pragma GCC unroll 16
  for (std::size_t i = 0; i < kWords; ++i) {
    const __m512i sum_e = _mm512_ternarylogic_epi32(_mm512_ror_epi32(e, 6), _mm512_ror_epi32(e, 11),
                                                    _mm512_ror_epi32(e, 25), kSum);
    const __m512i sum_a = _mm512_ternarylogic_epi32(_mm512_ror_epi32(a, 2), _mm512_ror_epi32(a, 13),
                                                    _mm512_ror_epi32(a, 22), kSum);
    const __m512i constant = _mm512_set1_epi32(static_cast<int>(constants[i]));
    const __m512i first = add(add(h, add(words[i], constant)),
                              add(sum_e, _mm512_ternarylogic_epi32(e, f, g, kChoice)));
    const __m512i second = add(sum_a, _mm512_ternarylogic_epi32(a, b, c, kMajority));
    h = g;
    g = f;
    f = e;
    e = add(d, first);
    d = c;
    c = b;
    b = a;
    a = add(first, second);
    if constexpr (extend) {
      const __m512i x = words[(i + 1) % kWords], y = words[(i + 14) % kWords];
      const __m512i low = _mm512_ternarylogic_epi32(_mm512_ror_epi32(x, 7), _mm512_ror_epi32(x, 18),
                                                    _mm512_srli_epi32(x, 3), kSum);
      const __m512i high = _mm512_ternarylogic_epi32(
          _mm512_ror_epi32(y, 17), _mm512_ror_epi32(y, 19), _mm512_srli_epi32(y, 10), kSum);
      words[i] = add(add(words[i], words[(i + 9) % kWords]), add(low, high));
    }
  }
  state[0] = a, state[1] = b, state[2] = c, state[3] = d;
  state[4] = e, state[5] = f, state[6] = g, state[7] = h;
}

// `words`: row i is the chunk of lane i, as it lies in memory. Overwritten.
inline __attribute__((always_inline)) void take_chunk(__m512i (&state)[kStateWords],
                                                      __m512i (&words)[kWords]) {
  for (__m512i& row : words) row = swap_bytes(row);
  transpose(words);
  __m512i next[kStateWords];
  for (std::size_t i = 0; i < kStateWords; ++i) next[i] = state[i];
  for (std::size_t rounds = 0; rounds < 48; rounds += kWords)
    sixteen_rounds<true>(next, words, kRound + rounds);
  sixteen_rounds<false>(next, words, kRound + 48);
  for (std::size_t i = 0; i < kStateWords; ++i) state[i] = add(state[i], next[i]);
}

// What follows the last whole chunk of a message of `message_bytes`: its rest, 0x80, zeros and the
// length in bits; one chunk or two. Returns the bytes written.
std::size_t write_tail(const std::uint8_t* block, std::size_t message_bytes,
                       std::uint8_t (&tail)[2 * kChunk]) {
  const std::size_t rest = message_bytes % kChunk;
  const std::size_t bytes = rest + kTrailer <= kChunk ? kChunk : 2 * kChunk;
  __builtin_memset(tail, 0, sizeof tail);
  for (std::size_t i = 0; i < rest; ++i) {
    const std::size_t at = message_bytes - rest + i;
    if (at > 0) tail[i] = block[at - 1];
  }
  tail[rest] = 0x80;
  const std::uint64_t bits = __builtin_bswap64(std::uint64_t{message_bytes} * 8);
  __builtin_memcpy(tail + bytes - sizeof bits, &bits, sizeof bits);
  return bytes;
}

}  // namespace

void leaf_lanes_avx512(const std::uint8_t* const (&blocks)[kLeafLanes], std::size_t block_bytes,
                       std::uint8_t (&digests)[kLeafLanes][kLeafDigestBytes]) {
  __m512i state[kStateWords], rows[kWords];
  for (std::size_t i = 0; i < kStateWords; ++i)
    state[i] = _mm512_set1_epi32(static_cast<int>(kInitial[i]));

  const std::size_t message_bytes = block_bytes + 1;
  for (std::size_t at = 0; at + kChunk <= message_bytes; at += kChunk) {
    // The first byte of the first chunk is not the block's: it is not read, and is zero.
    const __mmask64 present = at == 0 ? ~__mmask64{1} : ~__mmask64{0};
    for (std::size_t lane = 0; lane < kLeafLanes; ++lane)
      rows[lane] = _mm512_maskz_loadu_epi8(present, blocks[lane] + at - 1);
    take_chunk(state, rows);
  }

  std::uint8_t tails[kLeafLanes][2 * kChunk];
  std::size_t tail_bytes = 0;
  for (std::size_t lane = 0; lane < kLeafLanes; ++lane)
    tail_bytes = write_tail(blocks[lane], message_bytes, tails[lane]);
  for (std::size_t at = 0; at < tail_bytes; at += kChunk) {
    for (std::size_t lane = 0; lane < kLeafLanes; ++lane)
      rows[lane] = _mm512_loadu_si512(tails[lane] + at);
    take_chunk(state, rows);
  }

  for (std::size_t i = 0; i < kWords; ++i)
    rows[i] = i < kStateWords ? swap_bytes(state[i]) : _mm512_setzero_si512();
  transpose(rows);
  for (std::size_t lane = 0; lane < kLeafLanes; ++lane)
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(digests[lane]),
                        _mm512_castsi512_si256(rows[lane]));
}

}  // namespace firn
