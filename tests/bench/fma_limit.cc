#include "tests/bench/fma_limit.h"

namespace firn::bench {
namespace {

#if defined(__x86_64__)
// Ten sums that do not wait for one another cover the instruction's latency of four cycles at two a
// cycle. Registers are named here, so that the compiler can neither hoist nor spill.
#define TEN(step) step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) step(8) step(9)
#define REGISTERS \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11"
#define ZMM(i) "vfmadd231ps %%zmm10, %%zmm11, %%zmm" #i "; "
#define YMM(i) "vfmadd231ps %%ymm10, %%ymm11, %%ymm" #i "; "
#define ZERO(i) "vxorps %%xmm" #i ", %%xmm" #i ", %%xmm" #i "; "

void avx512(std::size_t rounds) {
  asm volatile(TEN(ZERO) ZERO(10) ZERO(11) "1: " TEN(ZMM) "dec %0; jnz 1b; vzeroupper"
               : "+r"(rounds)
               :
               : "cc", REGISTERS);
}

void avx2(std::size_t rounds) {
  asm volatile(TEN(ZERO) ZERO(10) ZERO(11) "1: " TEN(YMM) "dec %0; jnz 1b; vzeroupper"
               : "+r"(rounds)
               :
               : "cc", REGISTERS);
}
#endif

}  // namespace

double register_multiply_adds(std::string_view kernels, std::size_t rounds) {
#if defined(__x86_64__)
  if (kernels == "avx512") {
    avx512(rounds);
    return 10.0 * 16 * static_cast<double>(rounds);
  }
  if (kernels == "avx2-fma") {
    avx2(rounds);
    return 10.0 * 8 * static_cast<double>(rounds);
  }
#endif
  // One sum at a time, ten of them.
  volatile float factor = 1.0F;
  float sums[10] = {};
  for (std::size_t i = 0; i < rounds; ++i) {
    for (float& sum : sums) sum = sum * factor + factor;
  }
  volatile float used = sums[0];
  static_cast<void>(used);
  return 10.0 * static_cast<double>(rounds);
}

}  // namespace firn::bench
