// Block checks with AVX-512, GFNI, VBMI and VPCLMULQDQ. The coefficients of R are bits, so the
// product by it acts on each of the payload's eight bit planes alone, as a carry-less product of
// 64-bit words. Three of them (Karatsuba) make 128 x 128 bits. The busiest unit (port 5 on Intel's
// CPUs) has 8 instructions for 128 bytes: 2 permutations and 6 products.
#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 says it of its own intrinsics (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include "codec/kernels/check_table.h"
#include "codec/kernels/products.h"

namespace firn::codec {
namespace {

constexpr std::size_t kVector = 64, kGroup = 2 * kVector;
// Payloads of sets come from memory, and the CPU's own prefetching ends at each page (note 038).
constexpr std::size_t kPrefetchBytes = 2048;
constexpr int kXorOfThree = 0x96;

// As the first operand of GF2P8AFFINEQB this makes output bit i of byte q from bit q of the byte
// 7 - i of the second: it transposes 8 x 8 bits.
__m512i transposer() {
  return _mm512_set1_epi64(static_cast<long long>(0x8040201008040201));
}

struct Permutations {
  // Byte 8 i + j from byte 8 (7 - j) + i: between bytes in turn and planes in turn, both ways.
  alignas(64) std::uint8_t reflect[64];
  // spread[i]: byte j from byte j / width, for width = 4, 8, 16.
  alignas(64) std::uint8_t spread[3][64];
};

constexpr Permutations make_permutations() {
  Permutations result{};
  for (unsigned i = 0; i < 64; ++i) {
    result.reflect[i] = static_cast<std::uint8_t>(8 * (7 - i % 8) + i / 8);
    for (unsigned w = 0; w < 3; ++w) result.spread[w][i] = static_cast<std::uint8_t>(i / (4u << w));
  }
  return result;
}

constexpr Permutations kPermutations = make_permutations();

// 64 bytes to eight 64-bit planes: plane q in word q, the first byte's bit at the top.
__m512i planes_of(__m512i bytes) {
  return _mm512_permutexvar_epi8(_mm512_load_si512(kPermutations.reflect),
                                 _mm512_gf2p8affine_epi64_epi8(transposer(), bytes, 0));
}

// Eight planes to 64 bytes, bit d of the planes to byte d.
__m512i bytes_of(__m512i planes) {
  const __m512i by_byte = _mm512_permutexvar_epi8(_mm512_load_si512(kPermutations.reflect), planes);
  return _mm512_gf2p8affine_epi64_epi8(transposer(), by_byte, 0);
}

// The planes of 128 bytes, each 64 bytes of them a polynomial of degree below 64.
struct Planes {
  __m512i low, high, sum;
};

Planes planes_of_group(__m512i first, __m512i second) {
  const __m512i high = planes_of(first), low = planes_of(second);
  return {low, high, _mm512_xor_si512(low, high)};
}

// Sums of products, 128 bits each: of the planes 0, 2, 4, 6 and of the planes 1, 3, 5, 7.
struct Sum {
  __m512i even = _mm512_setzero_si512(), odd = _mm512_setzero_si512();

  void add(__m512i planes, std::uint64_t word) {
    const __m512i by = _mm512_set1_epi64(static_cast<long long>(word));
    even = _mm512_xor_si512(even, _mm512_clmulepi64_epi128(planes, by, 0x00));
    odd = _mm512_xor_si512(odd, _mm512_clmulepi64_epi128(planes, by, 0x01));
  }
  void add_two(__m512i planes0, std::uint64_t word0, __m512i planes1, std::uint64_t word1) {
    const __m512i by0 = _mm512_set1_epi64(static_cast<long long>(word0));
    const __m512i by1 = _mm512_set1_epi64(static_cast<long long>(word1));
    even = _mm512_ternarylogic_epi64(even, _mm512_clmulepi64_epi128(planes0, by0, 0x00),
                                     _mm512_clmulepi64_epi128(planes1, by1, 0x00), kXorOfThree);
    odd = _mm512_ternarylogic_epi64(odd, _mm512_clmulepi64_epi128(planes0, by0, 0x01),
                                    _mm512_clmulepi64_epi128(planes1, by1, 0x01), kXorOfThree);
  }
  // Of every plane's sum the words for z^0..z^63 and z^64..z^127.
  __m512i lower() const { return _mm512_unpacklo_epi64(even, odd); }
  __m512i upper() const { return _mm512_unpackhi_epi64(even, odd); }
};

// The first `bytes` bytes of 64, zeros behind them.
__m512i load_first(const std::uint8_t* from, std::size_t bytes) {
  const __mmask64 mask = bytes < kVector ? (__mmask64{1} << bytes) - 1 : ~__mmask64{0};
  return _mm512_maskz_loadu_epi8(mask, from);
}

void convolve(std::uint8_t* y, const CheckWord* words, const std::uint8_t* payload,
              std::size_t bytes) {
  Sum low, high, sum;
  for (; bytes >= 2 * kGroup; bytes -= 2 * kGroup, payload += 2 * kGroup, words += 2) {
    for (std::size_t line = 0; line < 2 * kGroup; line += 64) {
      _mm_prefetch(reinterpret_cast<const char*>(payload) + kPrefetchBytes + line, _MM_HINT_T0);
    }
    const Planes a = planes_of_group(_mm512_loadu_si512(payload), _mm512_loadu_si512(payload + 64));
    const Planes b =
        planes_of_group(_mm512_loadu_si512(payload + 128), _mm512_loadu_si512(payload + 192));
    low.add_two(a.low, words[0].low, b.low, words[1].low);
    high.add_two(a.high, words[0].high, b.high, words[1].high);
    sum.add_two(a.sum, words[0].sum, b.sum, words[1].sum);
  }
  while (bytes > 0) {
    const std::size_t first = bytes < kVector ? bytes : kVector;
    const std::size_t second = bytes - first < kVector ? bytes - first : kVector;
    const Planes a = planes_of_group(
        load_first(payload, first),
        second > 0 ? load_first(payload + kVector, second) : _mm512_setzero_si512());
    low.add(a.low, words->low);
    high.add(a.high, words->high);
    sum.add(a.sum, words->sum);
    bytes -= first + second;
    payload += first + second;
    ++words;
  }
  // high z^128 + (sum - low - high) z^64 + low, 64 powers of z at a time
  const __m512i low0 = low.lower(), low1 = low.upper(), high0 = high.lower(), high1 = high.upper();
  const __m512i inner = _mm512_xor_si512(low1, high0);
  _mm512_storeu_si512(y, bytes_of(low0));
  _mm512_storeu_si512(y + 64,
                      bytes_of(_mm512_ternarylogic_epi64(inner, low0, sum.lower(), kXorOfThree)));
  _mm512_storeu_si512(y + 128,
                      bytes_of(_mm512_ternarylogic_epi64(inner, high1, sum.upper(), kXorOfThree)));
  _mm512_storeu_si512(y + 192, bytes_of(high1));
}

// GF2P8MULB works modulo 0x11b: both factors are carried over into that field and the sum back.
struct Map {
  __m512i matrix;
  explicit Map(std::uint64_t m) : matrix(_mm512_set1_epi64(static_cast<long long>(m))) {}
  __m512i operator()(__m512i v) const { return _mm512_gf2p8affine_epi64_epi8(v, matrix, 0); }
};

// The sum of `rows` rows, at most 64, times their coefficients, both in the field modulo 0x11b.
// Rows are read by `load`, a vector of them at a time.
template <std::size_t kWidth, class Load>
__m512i weigh_vectors(__m512i coefficients, std::size_t rows, const Load& load) {
  constexpr std::size_t kRows = kVector / kWidth;  // rows in a vector
  const __m512i spread = _mm512_load_si512(kPermutations.spread[kWidth / 8]);
  __m512i sum = _mm512_setzero_si512();
  for (std::size_t r = 0; r < rows; r += kRows) {
    const __m512i row_of_byte = _mm512_add_epi8(spread, _mm512_set1_epi8(static_cast<char>(r)));
    const __m512i factors = _mm512_permutexvar_epi8(row_of_byte, coefficients);
    sum = _mm512_xor_si512(sum, _mm512_gf2p8mul_epi8(load(r * kWidth), factors));
  }
  return sum;
}

template <std::size_t kWidth>
void weigh_rows(std::uint8_t* out, const std::uint8_t* rows, const std::uint8_t* coefficients,
                std::size_t count) {
  const Map to(kFieldMaps.to_11b), from(kFieldMaps.from_11b);
  __m512i sum = _mm512_setzero_si512();
  for (; count >= kVector; count -= kVector, coefficients += kVector, rows += kVector * kWidth) {
    const auto load = [&](std::size_t at) { return to(_mm512_loadu_si512(rows + at)); };
    const __m512i factors = to(_mm512_loadu_si512(coefficients));
    sum = _mm512_xor_si512(sum, weigh_vectors<kWidth>(factors, kVector, load));
  }
  const auto load = [&](std::size_t at) { return to(load_first(rows + at, count * kWidth - at)); };
  const __m512i factors = to(load_first(coefficients, count));
  sum = from(_mm512_xor_si512(sum, weigh_vectors<kWidth>(factors, count, load)));
  const __m256i half =
      _mm256_xor_si256(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));
  __m128i folded = _mm_xor_si128(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  if (kWidth <= 8) folded = _mm_xor_si128(folded, _mm_srli_si128(folded, 8));
  if (kWidth <= 4) folded = _mm_xor_si128(folded, _mm_srli_si128(folded, 4));
  __builtin_memcpy(out, &folded, kWidth);
}

void weigh(std::uint8_t* out, const std::uint8_t* rows, std::size_t width,
           const std::uint8_t* coefficients, std::size_t count) {
  if (width == 4) return weigh_rows<4>(out, rows, coefficients, count);
  if (width == 8) return weigh_rows<8>(out, rows, coefficients, count);
  weigh_rows<16>(out, rows, coefficients, count);
}

}  // namespace

const CheckKernels kAvx512CheckKernels = {"avx512-clmul", convolve, weigh};

}  // namespace firn::codec
