// Block checks with NEON and PMULL (AArch64): bit planes by swaps of bits inside 64-bit words and
// table look-ups over 64 bytes, then carry-less products of 64-bit words as in check_avx512.cc.
#include <arm_neon.h>

#include "codec/kernels/check_planes.h"
#include "codec/kernels/check_table.h"

namespace firn::codec {
namespace {

using check_planes::kGroup;
using check_planes::PlaneSums;

constexpr std::size_t kStage = 16;  // groups; 2 KiB of planes

// Planes 2 q and 2 q + 1 of the groups of a stage; the upper half is the first 64 bytes of a group.
struct Stage {
  uint64x2_t upper[4][kStage], lower[4][kStage];
};

template <int kShift>
uint64x2_t swap_bits(uint64x2_t v, std::uint64_t mask) {
  const uint64x2_t swapped = vandq_u64(veorq_u64(v, vshrq_n_u64(v, kShift)), vdupq_n_u64(mask));
  return veorq_u64(v, veorq_u64(swapped, vshlq_n_u64(swapped, kShift)));
}

// check_planes::transposed() of two words.
uint8x16_t transposed(const std::uint8_t* from) {
  uint64x2_t v = vreinterpretq_u64_u8(vld1q_u8(from));
  v = swap_bits<9>(v, 0x0055005500550055);
  v = swap_bits<18>(v, 0x0000333300003333);
  return vreinterpretq_u8_u64(swap_bits<36>(v, 0x000000000f0f0f0f));
}

// Of the transposed words c = 0..7, the bytes for planes 2 q (byte 7 - 2 q) and 2 q + 1, the first
// word's at the top.
void store_planes(const std::uint8_t* half, uint64x2_t (*planes)[kStage], std::size_t at) {
  static constexpr std::uint8_t kFirst[16] = {63, 55, 47, 39, 31, 23, 15, 7,
                                              62, 54, 46, 38, 30, 22, 14, 6};
  const uint8x16x4_t words = {
      {transposed(half), transposed(half + 16), transposed(half + 32), transposed(half + 48)}};
  uint8x16_t indices = vld1q_u8(kFirst);
  for (int q = 0; q < 4; ++q, indices = vsubq_u8(indices, vdupq_n_u8(2))) {
    planes[q][at] = vreinterpretq_u64_u8(vqtbl4q_u8(words, indices));
  }
}

uint64x2_t product(std::uint64_t planes, std::uint64_t word) {
  return vreinterpretq_u64_p128(vmull_p64(planes, word));
}

// Adds `count` groups of a stage, whose words begin at `words`, to the sums of planes 2 q, 2 q + 1.
void add_products(const uint64x2_t* upper, const uint64x2_t* lower, const CheckWord* words,
                  std::size_t count, PlaneSums& sums, std::size_t q) {
  uint64x2_t low0 = vld1q_u64(sums.low[2 * q]), low1 = vld1q_u64(sums.low[2 * q + 1]);
  uint64x2_t high0 = vld1q_u64(sums.high[2 * q]), high1 = vld1q_u64(sums.high[2 * q + 1]);
  uint64x2_t sum0 = vld1q_u64(sums.sum[2 * q]), sum1 = vld1q_u64(sums.sum[2 * q + 1]);
  for (std::size_t i = 0; i < count; ++i) {
    const uint64x2_t both = veorq_u64(upper[i], lower[i]);
    low0 = veorq_u64(low0, product(vgetq_lane_u64(lower[i], 0), words[i].low));
    low1 = veorq_u64(low1, product(vgetq_lane_u64(lower[i], 1), words[i].low));
    high0 = veorq_u64(high0, product(vgetq_lane_u64(upper[i], 0), words[i].high));
    high1 = veorq_u64(high1, product(vgetq_lane_u64(upper[i], 1), words[i].high));
    sum0 = veorq_u64(sum0, product(vgetq_lane_u64(both, 0), words[i].sum));
    sum1 = veorq_u64(sum1, product(vgetq_lane_u64(both, 1), words[i].sum));
  }
  vst1q_u64(sums.low[2 * q], low0);
  vst1q_u64(sums.low[2 * q + 1], low1);
  vst1q_u64(sums.high[2 * q], high0);
  vst1q_u64(sums.high[2 * q + 1], high1);
  vst1q_u64(sums.sum[2 * q], sum0);
  vst1q_u64(sums.sum[2 * q + 1], sum1);
}

void store_group(const std::uint8_t* group, std::size_t at, Stage& stage) {
  store_planes(group, stage.upper, at);
  store_planes(group + kGroup / 2, stage.lower, at);
}

void convolve(std::uint8_t* y, const CheckWord* words, const std::uint8_t* payload,
              std::size_t bytes) {
  PlaneSums sums = {};
  Stage stage;
  while (bytes > 0) {
    std::size_t count = 0;
    for (; count < kStage && bytes >= kGroup; ++count, payload += kGroup, bytes -= kGroup) {
      store_group(payload, count, stage);
    }
    if (count < kStage && bytes > 0) {
      std::uint8_t last[kGroup] = {};
      __builtin_memcpy(last, payload, bytes);
      store_group(last, count++, stage);
      bytes = 0;
    }
    for (std::size_t q = 0; q < 4; ++q) {
      add_products(stage.upper[q], stage.lower[q], words, count, sums, q);
    }
    words += count;
  }
  check_planes::store_product(y, sums);
}

struct Neon {
  using Vector = uint8x16_t;
  static constexpr std::size_t kBytes = 16;

  static Vector load(const std::uint8_t* from) { return vld1q_u8(from); }
  static void store(std::uint8_t* to, Vector v) { vst1q_u8(to, v); }
  static Vector all(std::uint8_t byte) { return vdupq_n_u8(byte); }
  static Vector add(Vector a, Vector b) { return veorq_u8(a, b); }
  static Vector times_z(Vector v) {
    const Vector top = vcltzq_s8(vreinterpretq_s8_u8(v));
    return add(vshlq_n_u8(v, 1), vandq_u8(top, all(0x1d)));
  }
  static Vector load_sixteen(const std::uint8_t* from) { return vld1q_u8(from); }
  static Vector look_up(Vector table, Vector indices) { return vqtbl1q_u8(table, indices); }
  static Vector select(Vector rows, Vector coefficients, unsigned bit) {
    return vandq_u8(rows, vtstq_u8(coefficients, all(static_cast<std::uint8_t>(1u << bit))));
  }
};

}  // namespace

const CheckKernels kNeonCheckKernels = {"neon-pmull", convolve, check_planes::weigh<Neon>};

}  // namespace firn::codec
