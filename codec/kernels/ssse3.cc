// SSSE3: 16 bytes times a constant by two byte shuffles (see avx2.cc).
#include <tmmintrin.h>

#include "codec/kernels/products.h"
#include "codec/kernels/table.h"
#include "codec/kernels/vector_kernels.h"

namespace firn::codec {
namespace {

struct Nibbles {
  __m128i low, high;
};

struct Ssse3 {
  using Vector = __m128i;
  using Source = Nibbles;
  using Factor = Nibbles;  // the products of the low and of the high nibbles
  static constexpr std::size_t kWidth = 16;
  static constexpr std::size_t kRows = 4;
  static constexpr std::size_t kTallRows = kRows;
  static constexpr std::size_t kColumns = 2;
  static constexpr std::size_t kSweepSources = 4;
  static constexpr bool kPairs = false;

  FIRN_INLINE static Vector zero() { return _mm_setzero_si128(); }
  FIRN_INLINE static Vector load(const std::uint8_t* in) {
    return _mm_loadu_si128(reinterpret_cast<const __m128i*>(in));
  }
  FIRN_INLINE static void store(std::uint8_t* out, Vector v) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), v);
  }
  FIRN_INLINE static Vector load_first(const std::uint8_t* in, std::size_t bytes) {
    alignas(16) std::uint8_t staged[kWidth] = {};
    __builtin_memcpy(staged, in, bytes);
    return load(staged);
  }
  FIRN_INLINE static void store_first(std::uint8_t* out, Vector v, std::size_t bytes) {
    alignas(16) std::uint8_t staged[kWidth];
    store(staged, v);
    __builtin_memcpy(out, staged, bytes);
  }
  FIRN_INLINE static Vector add(Vector a, Vector b) { return _mm_xor_si128(a, b); }

  FIRN_INLINE static Source prepare(Vector v) {
    const __m128i mask = _mm_set1_epi8(15);
    return {_mm_and_si128(v, mask), _mm_and_si128(_mm_srli_epi64(v, 4), mask)};
  }
  FIRN_INLINE static Factor factor(std::uint8_t c) {
    const auto* products = reinterpret_cast<const __m128i*>(kNibbleProducts.by_constant[c]);
    return {_mm_load_si128(products), _mm_load_si128(products + 1)};
  }
  FIRN_INLINE static Vector multiply_add(Vector sum, Source source, Factor factor) {
    sum = add(sum, _mm_shuffle_epi8(factor.low, source.low));
    return add(sum, _mm_shuffle_epi8(factor.high, source.high));
  }
};

}  // namespace

const Kernels kSsse3Kernels = vector_kernels::make_kernels<Ssse3>("ssse3");

}  // namespace firn::codec
