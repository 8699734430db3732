// The lattice with AVX2 and FMA: 8 codewords side by side in single precision, 4 in double.
#include <immintrin.h>

#include "codec/kernels/lattice_kernels.h"

namespace firn::codec {
namespace {

// Steps of a sum over the lanes of many vectors: each joins two vectors of partial sums, and halves
// the number of partial sums that a vector has.
FIRN_INLINE __m256 join_pairs(__m256 a, __m256 b) {
  const __m256d first = _mm256_castps_pd(a), second = _mm256_castps_pd(b);
  return _mm256_add_ps(_mm256_castpd_ps(_mm256_unpacklo_pd(first, second)),
                       _mm256_castpd_ps(_mm256_unpackhi_pd(first, second)));
}
FIRN_INLINE __m256 join_singles(__m256 a, __m256 b) {
  return _mm256_add_ps(_mm256_shuffle_ps(a, b, 0x88), _mm256_shuffle_ps(a, b, 0xdd));
}
FIRN_INLINE __m256 join_halves(__m256 first, __m256 second) {
  return _mm256_add_ps(_mm256_permute2f128_ps(first, second, 0x20),
                       _mm256_permute2f128_ps(first, second, 0x31));
}
FIRN_INLINE __m256d join_halves(__m256d first, __m256d second) {
  return _mm256_add_pd(_mm256_permute2f128_pd(first, second, 0x20),
                       _mm256_permute2f128_pd(first, second, 0x31));
}

struct Avx2Single {
  using Real = float;
  using Vector = __m256;
  static constexpr std::size_t kLanes = 8;
  static constexpr int kRows = 5;

  FIRN_INLINE static Vector load(const float* in) { return _mm256_load_ps(in); }
  FIRN_INLINE static Vector load_any(const float* in) { return _mm256_loadu_ps(in); }
  FIRN_INLINE static void store(float* out, Vector v) { _mm256_store_ps(out, v); }
  FIRN_INLINE static void store_any(float* out, Vector v) { _mm256_storeu_ps(out, v); }
  FIRN_INLINE static Vector zero() { return _mm256_setzero_ps(); }
  FIRN_INLINE static Vector all(float number) { return _mm256_set1_ps(number); }
  FIRN_INLINE static Vector add(Vector a, Vector b) { return _mm256_add_ps(a, b); }
  FIRN_INLINE static Vector multiply(Vector a, Vector b) { return _mm256_mul_ps(a, b); }
  FIRN_INLINE static Vector multiply_add(Vector a, Vector b, Vector c) {
    return _mm256_fmadd_ps(a, b, c);
  }
  FIRN_INLINE static Vector sum_of_each(const Vector (&v)[kLanes]) {
    const __m256 first = join_pairs(join_halves(v[0], v[4]), join_halves(v[1], v[5]));
    const __m256 second = join_pairs(join_halves(v[2], v[6]), join_halves(v[3], v[7]));
    return join_singles(first, second);
  }
};

struct Avx2Double {
  using Real = double;
  using Vector = __m256d;
  static constexpr std::size_t kLanes = 4;
  static constexpr int kRows = 5;

  FIRN_INLINE static Vector load(const double* in) { return _mm256_load_pd(in); }
  FIRN_INLINE static Vector load_any(const double* in) { return _mm256_loadu_pd(in); }
  FIRN_INLINE static void store(double* out, Vector v) { _mm256_store_pd(out, v); }
  FIRN_INLINE static void store_any(double* out, Vector v) { _mm256_storeu_pd(out, v); }
  FIRN_INLINE static Vector zero() { return _mm256_setzero_pd(); }
  FIRN_INLINE static Vector all(double number) { return _mm256_set1_pd(number); }
  FIRN_INLINE static Vector add(Vector a, Vector b) { return _mm256_add_pd(a, b); }
  FIRN_INLINE static Vector multiply(Vector a, Vector b) { return _mm256_mul_pd(a, b); }
  FIRN_INLINE static Vector multiply_add(Vector a, Vector b, Vector c) {
    return _mm256_fmadd_pd(a, b, c);
  }
  FIRN_INLINE static Vector sum_of_each(const Vector (&v)[kLanes]) {
    const __m256d first = join_halves(v[0], v[2]), second = join_halves(v[1], v[3]);
    return _mm256_add_pd(_mm256_unpacklo_pd(first, second), _mm256_unpackhi_pd(first, second));
  }
};

}  // namespace

const LatticeKernels kAvx2LatticeKernels = {"avx2-fma", lattice::operations<Avx2Single>(),
                                            lattice::operations<Avx2Double>()};

}  // namespace firn::codec
