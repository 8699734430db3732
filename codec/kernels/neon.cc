// NEON (AArch64): 16 bytes times a constant by two byte shuffles (see avx2.cc).
#include <arm_neon.h>

#include "codec/kernels/products.h"
#include "codec/kernels/table.h"
#include "codec/kernels/vector_kernels.h"

namespace firn::codec {
namespace {

struct Nibbles {
  uint8x16_t low, high;
};

struct Neon {
  using Vector = uint8x16_t;
  using Source = Nibbles;
  using Factor = Nibbles;  // the products of the low and of the high nibbles
  static constexpr std::size_t kWidth = 16;
  static constexpr std::size_t kRows = 4;
  static constexpr std::size_t kTallRows = kRows;
  static constexpr std::size_t kColumns = 4;
  static constexpr std::size_t kSweepSources = 4;
  static constexpr bool kPairs = false;

  FIRN_INLINE static Vector zero() { return vdupq_n_u8(0); }
  FIRN_INLINE static Vector load(const std::uint8_t* in) { return vld1q_u8(in); }
  FIRN_INLINE static void store(std::uint8_t* out, Vector v) { vst1q_u8(out, v); }
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
  FIRN_INLINE static Vector add(Vector a, Vector b) { return veorq_u8(a, b); }

  FIRN_INLINE static Source prepare(Vector v) {
    return {vandq_u8(v, vdupq_n_u8(15)), vshrq_n_u8(v, 4)};
  }
  FIRN_INLINE static Factor factor(std::uint8_t c) {
    const std::uint8_t* products = kNibbleProducts.by_constant[c];
    return {vld1q_u8(products), vld1q_u8(products + 16)};
  }
  FIRN_INLINE static Vector multiply_add(Vector sum, Source source, Factor factor) {
    sum = add(sum, vqtbl1q_u8(factor.low, source.low));
    return add(sum, vqtbl1q_u8(factor.high, source.high));
  }
};

}  // namespace

const Kernels kNeonKernels = vector_kernels::make_kernels<Neon>("neon");

}  // namespace firn::codec
