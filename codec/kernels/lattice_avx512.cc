// The lattice with AVX-512: 16 codewords side by side in single precision, 8 in double.
#if defined(__GNUC__) && !defined(__clang__)
// g++ 12 says it of its own intrinsics (GCC bug 105593).
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#endif
#include <immintrin.h>

#include "codec/kernels/lattice_kernels.h"

namespace firn::codec {
namespace {

// Steps of a sum over the lanes of many vectors: each joins two vectors of partial sums, and halves
// the number of partial sums that a vector has.
FIRN_INLINE __m512 join_halves(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
}
FIRN_INLINE __m512 join_quarters(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x88), _mm512_shuffle_f32x4(a, b, 0xdd));
}
FIRN_INLINE __m512 join_pairs(__m512 a, __m512 b) {
  const __m512d first = _mm512_castps_pd(a), second = _mm512_castps_pd(b);
  return _mm512_add_ps(_mm512_castpd_ps(_mm512_unpacklo_pd(first, second)),
                       _mm512_castpd_ps(_mm512_unpackhi_pd(first, second)));
}
FIRN_INLINE __m512 join_singles(__m512 a, __m512 b) {
  return _mm512_add_ps(_mm512_shuffle_ps(a, b, 0x88), _mm512_shuffle_ps(a, b, 0xdd));
}
FIRN_INLINE __m512d join_halves(__m512d a, __m512d b) {
  return _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x44), _mm512_shuffle_f64x2(a, b, 0xee));
}
FIRN_INLINE __m512d join_quarters(__m512d a, __m512d b) {
  return _mm512_add_pd(_mm512_shuffle_f64x2(a, b, 0x88), _mm512_shuffle_f64x2(a, b, 0xdd));
}

struct Avx512Single {
  using Real = float;
  using Vector = __m512;
  static constexpr std::size_t kLanes = 16;
  static constexpr int kRows = 10;

  FIRN_INLINE static Vector load(const float* in) { return _mm512_load_ps(in); }
  FIRN_INLINE static Vector load_any(const float* in) { return _mm512_loadu_ps(in); }
  FIRN_INLINE static void store(float* out, Vector v) { _mm512_store_ps(out, v); }
  FIRN_INLINE static void store_any(float* out, Vector v) { _mm512_storeu_ps(out, v); }
  FIRN_INLINE static Vector zero() { return _mm512_setzero_ps(); }
  FIRN_INLINE static Vector all(float number) { return _mm512_set1_ps(number); }
  FIRN_INLINE static Vector add(Vector a, Vector b) { return _mm512_add_ps(a, b); }
  FIRN_INLINE static Vector multiply(Vector a, Vector b) { return _mm512_mul_ps(a, b); }
  FIRN_INLINE static Vector multiply_add(Vector a, Vector b, Vector c) {
    return _mm512_fmadd_ps(a, b, c);
  }
  // Of the vectors j, j + 4, j + 8 and j + 12: their sums within quarters, one of them in each.
  FIRN_INLINE static Vector sum_of_four(const Vector* v) {
    return join_quarters(join_halves(v[0], v[4]), join_halves(v[8], v[12]));
  }
  FIRN_INLINE static Vector sum_of_each(const Vector (&v)[kLanes]) {
    return join_singles(join_pairs(sum_of_four(v), sum_of_four(v + 1)),
                        join_pairs(sum_of_four(v + 2), sum_of_four(v + 3)));
  }
};

struct Avx512Double {
  using Real = double;
  using Vector = __m512d;
  static constexpr std::size_t kLanes = 8;
  static constexpr int kRows = 10;

  FIRN_INLINE static Vector load(const double* in) { return _mm512_load_pd(in); }
  FIRN_INLINE static Vector load_any(const double* in) { return _mm512_loadu_pd(in); }
  FIRN_INLINE static void store(double* out, Vector v) { _mm512_store_pd(out, v); }
  FIRN_INLINE static void store_any(double* out, Vector v) { _mm512_storeu_pd(out, v); }
  FIRN_INLINE static Vector zero() { return _mm512_setzero_pd(); }
  FIRN_INLINE static Vector all(double number) { return _mm512_set1_pd(number); }
  FIRN_INLINE static Vector add(Vector a, Vector b) { return _mm512_add_pd(a, b); }
  FIRN_INLINE static Vector multiply(Vector a, Vector b) { return _mm512_mul_pd(a, b); }
  FIRN_INLINE static Vector multiply_add(Vector a, Vector b, Vector c) {
    return _mm512_fmadd_pd(a, b, c);
  }
  FIRN_INLINE static Vector sum_of_four(const Vector* v) {
    return join_quarters(join_halves(v[0], v[2]), join_halves(v[4], v[6]));
  }
  FIRN_INLINE static Vector sum_of_each(const Vector (&v)[kLanes]) {
    const Vector first = sum_of_four(v), second = sum_of_four(v + 1);
    return _mm512_add_pd(_mm512_unpacklo_pd(first, second), _mm512_unpackhi_pd(first, second));
  }
};

}  // namespace

const LatticeKernels kAvx512LatticeKernels = {"avx512", lattice::operations<Avx512Single>(),
                                              lattice::operations<Avx512Double>()};

}  // namespace firn::codec
