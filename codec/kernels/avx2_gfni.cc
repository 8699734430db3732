// AVX2 with GFNI (no AVX-512): 32 bytes times a constant in one GF2P8AFFINEQB.
#include <immintrin.h>

#include "codec/kernels/products.h"
#include "codec/kernels/table.h"
#include "codec/kernels/vector_kernels.h"

namespace firn::codec {
namespace {

struct Avx2Gfni {
  using Vector = __m256i;
  using Source = __m256i;
  using Factor = __m256i;
  static constexpr std::size_t kWidth = 32;
  static constexpr std::size_t kRows = 4;
  static constexpr std::size_t kTallRows = kRows;
  static constexpr std::size_t kColumns = 2;
  static constexpr std::size_t kSweepSources = 2;
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

  FIRN_INLINE static Source prepare(Vector v) { return v; }
  FIRN_INLINE static Factor factor(std::uint8_t c) {
    return _mm256_set1_epi64x(static_cast<long long>(kBitMatrices.by_constant[c]));
  }
  FIRN_INLINE static Vector multiply_add(Vector sum, Source source, Factor factor) {
    return add(sum, _mm256_gf2p8affine_epi64_epi8(source, factor, 0));
  }
};

}  // namespace

const Kernels kAvx2GfniKernels = vector_kernels::make_kernels<Avx2Gfni>("avx2-gfni");

}  // namespace firn::codec
