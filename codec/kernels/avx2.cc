// AVX2: 32 bytes times a constant by two byte shuffles, one for each half of every byte (the
// method of Plank, Greenan and Miller, "Screaming Fast Galois Field Arithmetic", FAST 2013).
#include <immintrin.h>

#include "codec/kernels/products.h"
#include "codec/kernels/table.h"
#include "codec/kernels/vector_kernels.h"

namespace firn::codec {
namespace {

struct Nibbles {
  __m256i low, high;
};

struct Avx2 {
  using Vector = __m256i;
  using Source = Nibbles;
  using Factor = Nibbles;  // the products of the low and of the high nibbles
  static constexpr std::size_t kWidth = 32;
  static constexpr std::size_t kRows = 4;
  static constexpr std::size_t kTallRows = kRows;
  static constexpr std::size_t kColumns = 2;
  static constexpr std::size_t kSweepSources = 4;
  static constexpr bool kPairs = false;

  FIRN_INLINE static Vector zero() { return _mm256_setzero_si256(); }
  FIRN_INLINE static Vector load(const std::uint8_t* in) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(in));
  }
  FIRN_INLINE static void store(std::uint8_t* out, Vector v) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), v);
  }
  FIRN_INLINE static Vector load_first(const std::uint8_t* in, std::size_t bytes) {
    alignas(32) std::uint8_t staged[kWidth] = {};
    __builtin_memcpy(staged, in, bytes);
    return load(staged);
  }
  FIRN_INLINE static void store_first(std::uint8_t* out, Vector v, std::size_t bytes) {
    alignas(32) std::uint8_t staged[kWidth];
    store(staged, v);
    __builtin_memcpy(out, staged, bytes);
  }
  FIRN_INLINE static Vector add(Vector a, Vector b) { return _mm256_xor_si256(a, b); }

  FIRN_INLINE static Source prepare(Vector v) {
    const __m256i mask = _mm256_set1_epi8(15);
    return {_mm256_and_si256(v, mask), _mm256_and_si256(_mm256_srli_epi64(v, 4), mask)};
  }
  FIRN_INLINE static Factor factor(std::uint8_t c) {
    const auto* products = reinterpret_cast<const __m128i*>(kNibbleProducts.by_constant[c]);
    return {_mm256_broadcastsi128_si256(_mm_load_si128(products)),
            _mm256_broadcastsi128_si256(_mm_load_si128(products + 1))};
  }
  FIRN_INLINE static Vector multiply_add(Vector sum, Source source, Factor factor) {
    sum = add(sum, _mm256_shuffle_epi8(factor.low, source.low));
    return add(sum, _mm256_shuffle_epi8(factor.high, source.high));
  }
};

}  // namespace

const Kernels kAvx2Kernels = vector_kernels::make_kernels<Avx2>("avx2");

}  // namespace firn::codec
