// AVX-512 with GFNI: 64 bytes times a constant in one GF2P8AFFINEQB, sums of two products in one
// VPTERNLOG, row ends by masked loads and stores.
#include <immintrin.h>

#include "codec/kernels/products.h"
#include "codec/kernels/table.h"
#include "codec/kernels/vector_kernels.h"

namespace firn::codec {
namespace {

struct Avx512Gfni {
  using Vector = __m512i;
  using Source = __m512i;
  using Factor = __m512i;
  static constexpr std::size_t kWidth = 64;
  static constexpr std::size_t kRows = 4;
  static constexpr std::size_t kTallRows = 8;
  static constexpr std::size_t kColumns = 4;
  static constexpr std::size_t kSweepSources = 2;
  static constexpr bool kPairs = true;

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

  FIRN_INLINE static Source prepare(Vector v) { return v; }
  FIRN_INLINE static Factor factor(std::uint8_t c) {
    return _mm512_set1_epi64(static_cast<long long>(kBitMatrices.by_constant[c]));
  }
  FIRN_INLINE static Vector multiply_add(Vector sum, Source source, Factor factor) {
    return add(sum, _mm512_gf2p8affine_epi64_epi8(source, factor, 0));
  }
  FIRN_INLINE static Vector multiply_add_two(Vector sum, Source source0, Factor factor0,
                                             Source source1, Factor factor1) {
    constexpr int kXorOfThree = 0x96;
    return _mm512_ternarylogic_epi64(sum, _mm512_gf2p8affine_epi64_epi8(source0, factor0, 0),
                                     _mm512_gf2p8affine_epi64_epi8(source1, factor1, 0),
                                     kXorOfThree);
  }
};

}  // namespace

const Kernels kAvx512GfniKernels = vector_kernels::make_kernels<Avx512Gfni>("avx512-gfni");

}  // namespace firn::codec
