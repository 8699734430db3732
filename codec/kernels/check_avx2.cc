// Block checks with AVX2 and PCLMULQDQ: bit planes by swaps of bits inside 64-bit words and byte
// shuffles, then carry-less products of 64-bit words as in check_avx512.cc. The planes of kStage
// groups are laid aside first, so that the six sums of a pair of planes stay in registers.
#include <immintrin.h>

#include "codec/kernels/check_planes.h"
#include "codec/kernels/check_table.h"

namespace firn::codec {
namespace {

using check_planes::kGroup;
using check_planes::PlaneSums;

constexpr std::size_t kStage = 16;  // groups; 2 KiB of planes
// Payloads of sets come from memory, and the CPU's own prefetching ends at each page (note 038).
constexpr std::size_t kPrefetchBytes = 2048;

// Planes 2 q and 2 q + 1 of the groups of a stage: of the upper halves (the first 64 bytes of each
// group) in the low lane, of the lower halves in the high one.
struct Stage {
  __m256i pairs[4][kStage];
};

template <int kShift>
__m256i swap_bits(__m256i v, long long mask) {
  const __m256i swapped =
      _mm256_and_si256(_mm256_xor_si256(v, _mm256_srli_epi64(v, kShift)), _mm256_set1_epi64x(mask));
  return _mm256_xor_si256(v, _mm256_xor_si256(swapped, _mm256_slli_epi64(swapped, kShift)));
}

// check_planes::transposed() of four words.
__m256i transposed(__m256i v) {
  v = swap_bits<9>(v, 0x0055005500550055);
  v = swap_bits<18>(v, 0x0000333300003333);
  return swap_bits<36>(v, 0x000000000f0f0f0f);
}

__m128i load(const void* from) {
  return _mm_loadu_si128(static_cast<const __m128i*>(from));
}

void store_pairs(const std::uint8_t* group, std::size_t at, Stage& stage) {
  // Two words of 8 bytes become eight pairs of bytes, plane by plane, the first word's byte above.
  const __m256i pair_up = _mm256_broadcastsi128_si256(
      _mm_setr_epi8(15, 7, 14, 6, 13, 5, 12, 4, 11, 3, 10, 2, 9, 1, 8, 0));
  __m256i v[4];
  for (int i = 0; i < 4; ++i) {
    const __m128i upper = load(group + 16 * i), lower = load(group + 64 + 16 * i);
    const __m256i both = _mm256_inserti128_si256(_mm256_castsi128_si256(upper), lower, 1);
    v[i] = _mm256_shuffle_epi8(transposed(both), pair_up);
  }
  const __m256i last0 = _mm256_unpacklo_epi16(v[3], v[2]),
                last4 = _mm256_unpackhi_epi16(v[3], v[2]);
  const __m256i first0 = _mm256_unpacklo_epi16(v[1], v[0]);
  const __m256i first4 = _mm256_unpackhi_epi16(v[1], v[0]);
  stage.pairs[0][at] = _mm256_unpacklo_epi32(last0, first0);
  stage.pairs[1][at] = _mm256_unpackhi_epi32(last0, first0);
  stage.pairs[2][at] = _mm256_unpacklo_epi32(last4, first4);
  stage.pairs[3][at] = _mm256_unpackhi_epi32(last4, first4);
}

// Adds `count` groups of a stage, whose words begin at `words`, to the sums of planes 2 q, 2 q + 1.
void add_products(const __m256i* pairs, const CheckWord* words, std::size_t count, PlaneSums& sums,
                  std::size_t q) {
  __m128i low0 = load(sums.low[2 * q]), low1 = load(sums.low[2 * q + 1]);
  __m128i high0 = load(sums.high[2 * q]), high1 = load(sums.high[2 * q + 1]);
  __m128i sum0 = load(sums.sum[2 * q]), sum1 = load(sums.sum[2 * q + 1]);
  for (std::size_t i = 0; i < count; ++i) {
    const __m128i upper = _mm256_castsi256_si128(pairs[i]);
    const __m128i lower = _mm256_extracti128_si256(pairs[i], 1), both = _mm_xor_si128(upper, lower);
    const __m128i word = load(&words[i]);  // low, high
    const __m128i word_sum = _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&words[i].sum));
    low0 = _mm_xor_si128(low0, _mm_clmulepi64_si128(lower, word, 0x00));
    low1 = _mm_xor_si128(low1, _mm_clmulepi64_si128(lower, word, 0x01));
    high0 = _mm_xor_si128(high0, _mm_clmulepi64_si128(upper, word, 0x10));
    high1 = _mm_xor_si128(high1, _mm_clmulepi64_si128(upper, word, 0x11));
    sum0 = _mm_xor_si128(sum0, _mm_clmulepi64_si128(both, word_sum, 0x00));
    sum1 = _mm_xor_si128(sum1, _mm_clmulepi64_si128(both, word_sum, 0x01));
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
  PlaneSums sums = {};
  Stage stage;
  while (bytes > 0) {
    std::size_t count = 0;
    for (; count < kStage && bytes >= kGroup; ++count, payload += kGroup, bytes -= kGroup) {
      _mm_prefetch(reinterpret_cast<const char*>(payload) + kPrefetchBytes, _MM_HINT_T0);
      _mm_prefetch(reinterpret_cast<const char*>(payload) + kPrefetchBytes + 64, _MM_HINT_T0);
      store_pairs(payload, count, stage);
    }
    if (count < kStage && bytes > 0) {
      std::uint8_t last[kGroup] = {};
      __builtin_memcpy(last, payload, bytes);
      store_pairs(last, count++, stage);
      bytes = 0;
    }
    for (std::size_t q = 0; q < 4; ++q) add_products(stage.pairs[q], words, count, sums, q);
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
