// AVX-512 without GFNI: 64 bytes times a constant by two byte shuffles (see avx2.cc), both summed
// in one VPTERNLOG; row ends by masked loads and stores.
#include <immintrin.h>

#include "codec/kernels/products.h"
#include "codec/kernels/table.h"
#include "codec/kernels/vector_kernels.h"

namespace firn::codec {
namespace {

struct Nibbles {
  __m512i low, high;
};

struct Avx512Bw {
  using Vector = __m512i;
  using Source = Nibbles;
  using Factor = Nibbles;  // the products of the low and of the high nibbles
  static constexpr std::size_t kWidth = 64;
  static constexpr std::size_t kRows = 4;
  static constexpr std::size_t kTallRows = kRows;
  static constexpr std::size_t kColumns = 4;
  static constexpr std::size_t kSweepSources = 2;
  static constexpr bool kPairs = false;
  // The forms with a mask, as GCC 12 takes the others to read an uninitialised vector (its bug
  // 105593); with all elements named they become the same instructions.
  static constexpr __mmask8 kAllWords = 0xff;
  static constexpr __mmask16 kAllDoubleWords = 0xffff;

  FIRN_INLINE static __mmask64 first(std::size_t bytes) { return (__mmask64{1} << bytes) - 1; }

  FIRN_INLINE static Vector zero() { return _mm512_setzero_si512(); }
  FIRN_INLINE static Vector load(const std::uint8_t* in) { return _mm512_loadu_si512(in); }
  FIRN_INLINE static void store(std::uint8_t* out, Vector v) { _mm512_storeu_si512(out, v); }
  FIRN_INLINE static Vector load_first(const std::uint8_t* in, std::size_t bytes) {
    return _mm512_maskz_loadu_epi8(first(bytes), in);
  }
  FIRN_INLINE static void store_first(std::uint8_t* out, Vector v, std::size_t bytes) {
    _mm512_mask_storeu_epi8(out, first(bytes), v);
  }
  FIRN_INLINE static Vector add(Vector a, Vector b) { return _mm512_xor_si512(a, b); }

  FIRN_INLINE static Source prepare(Vector v) {
    const __m512i mask = _mm512_set1_epi8(15);
    return {_mm512_and_si512(v, mask),
            _mm512_and_si512(_mm512_maskz_srli_epi64(kAllWords, v, 4), mask)};
  }
  FIRN_INLINE static Factor factor(std::uint8_t c) {
    const auto* products = reinterpret_cast<const __m128i*>(kNibbleProducts.by_constant[c]);
    return {_mm512_maskz_broadcast_i32x4(kAllDoubleWords, _mm_load_si128(products)),
            _mm512_maskz_broadcast_i32x4(kAllDoubleWords, _mm_load_si128(products + 1))};
  }
  FIRN_INLINE static Vector multiply_add(Vector sum, Source source, Factor factor) {
    constexpr int kXorOfThree = 0x96;
    return _mm512_ternarylogic_epi64(sum, _mm512_shuffle_epi8(factor.low, source.low),
                                     _mm512_shuffle_epi8(factor.high, source.high), kXorOfThree);
  }
};

}  // namespace

const Kernels kAvx512BwKernels = vector_kernels::make_kernels<Avx512Bw>("avx512bw");

}  // namespace firn::codec
