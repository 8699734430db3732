// The lattice with NEON (AArch64): 4 codewords side by side in single precision, 2 in double.
#include <arm_neon.h>

#include "codec/kernels/lattice_kernels.h"

namespace firn::codec {
namespace {

struct NeonSingle {
  using Real = float;
  using Vector = float32x4_t;
  static constexpr std::size_t kLanes = 4;
  static constexpr int kRows = 8;

  FIRN_INLINE static Vector load(const float* in) { return vld1q_f32(in); }
  FIRN_INLINE static Vector load_any(const float* in) { return vld1q_f32(in); }
  FIRN_INLINE static void store(float* out, Vector v) { vst1q_f32(out, v); }
  FIRN_INLINE static void store_any(float* out, Vector v) { vst1q_f32(out, v); }
  FIRN_INLINE static Vector zero() { return vdupq_n_f32(0); }
  FIRN_INLINE static Vector all(float number) { return vdupq_n_f32(number); }
  FIRN_INLINE static Vector add(Vector a, Vector b) { return vaddq_f32(a, b); }
  FIRN_INLINE static Vector multiply(Vector a, Vector b) { return vmulq_f32(a, b); }
  FIRN_INLINE static Vector multiply_add(Vector a, Vector b, Vector c) {
    return vfmaq_f32(c, a, b);
  }
  FIRN_INLINE static Vector sum_of_each(const Vector (&v)[kLanes]) {
    return vpaddq_f32(vpaddq_f32(v[0], v[1]), vpaddq_f32(v[2], v[3]));
  }
};

struct NeonDouble {
  using Real = double;
  using Vector = float64x2_t;
  static constexpr std::size_t kLanes = 2;
  static constexpr int kRows = 8;

  FIRN_INLINE static Vector load(const double* in) { return vld1q_f64(in); }
  FIRN_INLINE static Vector load_any(const double* in) { return vld1q_f64(in); }
  FIRN_INLINE static void store(double* out, Vector v) { vst1q_f64(out, v); }
  FIRN_INLINE static void store_any(double* out, Vector v) { vst1q_f64(out, v); }
  FIRN_INLINE static Vector zero() { return vdupq_n_f64(0); }
  FIRN_INLINE static Vector all(double number) { return vdupq_n_f64(number); }
  FIRN_INLINE static Vector add(Vector a, Vector b) { return vaddq_f64(a, b); }
  FIRN_INLINE static Vector multiply(Vector a, Vector b) { return vmulq_f64(a, b); }
  FIRN_INLINE static Vector multiply_add(Vector a, Vector b, Vector c) {
    return vfmaq_f64(c, a, b);
  }
  FIRN_INLINE static Vector sum_of_each(const Vector (&v)[kLanes]) {
    return vpaddq_f64(v[0], v[1]);
  }
};

}  // namespace

const LatticeKernels kNeonLatticeKernels = {"neon", lattice::operations<NeonSingle>(),
                                            lattice::operations<NeonDouble>()};

}  // namespace firn::codec
