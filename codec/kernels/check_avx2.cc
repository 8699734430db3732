// Block checks with AVX2 and PCLMULQDQ: bit planes by interleaving bytes and by swaps of bits
// between eight vectors, then carry-less products of 64-bit words as in check_avx512.cc. The planes
// of kStage groups are laid aside first, so that the six sums of a pair of planes stay in
// registers.
#include <immintrin.h>

#include "codec/kernels/check_planes.h"
#include "codec/kernels/check_table.h"

namespace firn::codec {
namespace {

using check_planes::kGroup;
using check_planes::PlaneSums;

constexpr std::size_t kStage = 16;  // groups, an even number; 3 KiB of planes
// Payloads of sets come from memory, and the CPU's own prefetching ends at each page (note 038).
constexpr std::size_t kPrefetchBytes = 2048;

// Of every group of a stage each plane, the first byte's bit at the top, and for the planes 2 q and
// 2 q + 1 the sums of their two halves side by side.
struct alignas(32) Stage {
  __m128i planes[8][kStage], sums[4][kStage];
};

__m128i load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

void store_two(__m128i* to, __m256i v) {
  _mm256_store_si256(reinterpret_cast<__m256i*>(to), v);
}

// Two groups, one in each lane: v[i] gets the bytes i of all sixteen words of 8 bytes of a group,
// the first word's at the top.
void load_words(const std::uint8_t* groups, __m256i (&v)[8]) {
  const __m256i pair_up = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(8, 0, 9, 1, 10, 2, 11, 3, 12, 4, 13, 5, 14, 6, 15, 7));
  __m256i a[8], b[8];
  for (int i = 0; i < 8; ++i) {
    const __m128i first = load(groups + 16 * i), second = load(groups + kGroup + 16 * i);
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(first), second, 1);
    a[7 - i] = _mm256_shuffle_epi8(both, pair_up);
  }
  for (int i = 0; i < 8; i += 2) {
    b[i] = _mm256_unpacklo_epi16(a[i], a[i + 1]);
    b[i + 1] = _mm256_unpackhi_epi16(a[i], a[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    a[i] = _mm256_unpacklo_epi32(b[i], b[i + 2]);
    a[i + 1] = _mm256_unpackhi_epi32(b[i], b[i + 2]);
    a[i + 2] = _mm256_unpacklo_epi32(b[i + 1], b[i + 3]);
    a[i + 3] = _mm256_unpackhi_epi32(b[i + 1], b[i + 3]);
  }
  for (int i = 0; i < 4; ++i) {
    v[2 * i] = _mm256_unpacklo_epi64(a[i], a[i + 4]);
    v[2 * i + 1] = _mm256_unpackhi_epi64(a[i], a[i + 4]);
  }
}

// Bits kDistance and more places up in every byte of `low` change places with those of `high` that
// stand as much lower; `mask` names the latter.
template <int kDistance>
void swap_bits(__m256i& low, __m256i& high, char mask) {
  const __m256i difference = _mm256_and_si256(
      _mm256_xor_si256(_mm256_srli_epi16(low, kDistance), high), _mm256_set1_epi8(mask));
  high = _mm256_xor_si256(high, difference);
  low = _mm256_xor_si256(low, _mm256_slli_epi16(difference, kDistance));
}

// The planes of two groups.
void store_planes(const std::uint8_t* groups, std::size_t at, Stage& stage) {
  __m256i v[8];
  load_words(groups, v);
  // A transposition of 8 x 8 bits at each place: bit 7 - i of plane q is bit q of v[i].
  for (int i = 0; i < 8; ++i) {
    if ((i & 4) == 0) swap_bits<4>(v[7 - i], v[3 - i], 0x0f);
  }
  for (int i = 0; i < 8; ++i) {
    if ((i & 2) == 0) swap_bits<2>(v[7 - i], v[5 - i], 0x33);
  }
  for (int i = 0; i < 8; ++i) {
    if ((i & 1) == 0) swap_bits<1>(v[7 - i], v[6 - i], 0x55);
  }
  for (int q = 0; q < 8; q += 2) {
    const __m256i even = v[7 - q], odd = v[6 - q];
    store_two(&stage.planes[q][at], even);
    store_two(&stage.planes[q + 1][at], odd);
    store_two(&stage.sums[q / 2][at],
              _mm256_xor_si256(_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd)));
  }
}

// Adds `count` groups of a stage, whose words begin at `words`, to the sums of planes 2 q, 2 q + 1.
void add_products(const Stage& stage, const CheckWord* words, std::size_t count, PlaneSums& sums,
                  std::size_t q) {
  __m128i low0 = load(sums.low[2 * q]), low1 = load(sums.low[2 * q + 1]);
  __m128i high0 = load(sums.high[2 * q]), high1 = load(sums.high[2 * q + 1]);
  __m128i sum0 = load(sums.sum[2 * q]), sum1 = load(sums.sum[2 * q + 1]);
  for (std::size_t i = 0; i < count; ++i) {
    const __m128i plane0 = stage.planes[2 * q][i], plane1 = stage.planes[2 * q + 1][i];
    const __m128i halves = stage.sums[q][i];
    const __m128i word = load(&words[i]);  // low, high
    const __m128i word_sum = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&words[i].sum));
    low0 = _mm_xor_si128(low0, _mm_clmulepi64_si128(plane0, word, 0x00));
    low1 = _mm_xor_si128(low1, _mm_clmulepi64_si128(plane1, word, 0x00));
    high0 = _mm_xor_si128(high0, _mm_clmulepi64_si128(plane0, word, 0x11));
    high1 = _mm_xor_si128(high1, _mm_clmulepi64_si128(plane1, word, 0x11));
    sum0 = _mm_xor_si128(sum0, _mm_clmulepi64_si128(halves, word_sum, 0x00));
    sum1 = _mm_xor_si128(sum1, _mm_clmulepi64_si128(halves, word_sum, 0x01));
  }
  const auto store = [](std::uint64_t(&to)[2], __m128i v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), v);
  };
  store(sums.low[2 * q], low0);
  store(sums.low[2 * q + 1], low1);
  store(sums.high[2 * q], high0);
  store(sums.high[2 * q + 1], high1);
  store(sums.sum[2 * q], sum0);
  store(sums.sum[2 * q + 1], sum1);
}

void convolve(std::uint8_t* y, const CheckWord* words, const std::uint8_t* payload,
              std::size_t bytes) {
  constexpr std::size_t kTwo = 2 * kGroup;
  PlaneSums sums = {};
  Stage stage;
  while (bytes > 0) {
    std::size_t count = 0;
    for (; count < kStage && bytes >= kTwo; count += 2, payload += kTwo, bytes -= kTwo) {
      for (std::size_t line = 0; line < kTwo; line += 64) {
        _mm_prefetch(reinterpret_cast<const char*>(payload) + kPrefetchBytes + line, _MM_HINT_T0);
      }
      store_planes(payload, count, stage);
    }
    if (count < kStage && bytes > 0) {
      std::uint8_t last[kTwo] = {};
      __builtin_memcpy(last, payload, bytes);
      store_planes(last, count, stage);
      count += bytes > kGroup ? 2 : 1;
      bytes = 0;
    }
    for (std::size_t q = 0; q < 4; ++q) add_products(stage, words, count, sums, q);
    words += count;
  }
  check_planes::store_product(y, sums);
}

struct Avx2 {
  using Vector = __m256i;
  static constexpr std::size_t kBytes = 32;

  static Vector load(const std::uint8_t* from) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
  }
  static void store(std::uint8_t* to, Vector v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), v);
  }
  static Vector all(std::uint8_t byte) { return _mm256_set1_epi8(static_cast<char>(byte)); }
  static Vector add(Vector a, Vector b) { return _mm256_xor_si256(a, b); }
  static Vector times_z(Vector v) {
    const Vector top = _mm256_cmpgt_epi8(_mm256_setzero_si256(), v);
    return add(_mm256_add_epi8(v, v), _mm256_and_si256(top, all(0x1d)));
  }
  static Vector load_sixteen(const std::uint8_t* from) {
    return _mm256_broadcastsi128_si256(codec::load(from));
  }
  static Vector look_up(Vector table, Vector indices) {
    return _mm256_shuffle_epi8(table, indices);
  }
  static Vector select(Vector rows, Vector coefficients, unsigned bit) {
    const Vector mask = all(static_cast<std::uint8_t>(1u << bit));
    return _mm256_and_si256(rows, _mm256_cmpeq_epi8(_mm256_and_si256(coefficients, mask), mask));
  }
};

}  // namespace

const CheckKernels kAvx2CheckKernels = {"avx2-clmul", convolve, check_planes::weigh<Avx2>};

}  // namespace firn::codec
