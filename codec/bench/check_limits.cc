#include "codec/bench/check_limits.h"

#include <cstdint>

namespace firn::codec::bench {

#if defined(__x86_64__)

namespace {

// The loops name their registers themselves, so that the compiler can neither hoist nor spill;
// those above 15 a compiler for plain x86-64 does not know and does not use. What they hold is of
// no matter.
#define CHECK_REGISTERS                                                                    \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"

// Two groups of 128 bytes: planes of four vectors, two sums of halves, twelve products.
#define PLANES(to)                                \
  "vgf2p8affineqb $0, %%zmm16, %%zmm17, %%zmm" to \
  "; "                                            \
  "vpermb %%zmm" to ", %%zmm18, %%zmm" to "; "
#define PRODUCTS(a, b, half, total)        \
  "vpclmulqdq $" half ", %%zmm19, %%zmm" a \
  ", %%zmm6; "                             \
  "vpclmulqdq $" half ", %%zmm26, %%zmm" b \
  ", %%zmm7; "                             \
  "vpternlogq $0x96, %%zmm6, %%zmm7, %%zmm" total "; "

void avx512_loop(std::size_t rounds) {
  asm volatile(
      "1: " PLANES("0") PLANES("1") PLANES("2")
          PLANES("3") "vpxorq %%zmm0, %%zmm1, %%zmm4; vpxorq %%zmm2, %%zmm3, %%zmm5; " PRODUCTS(
              "0", "2", "0x00", "20") PRODUCTS("0", "2", "0x01", "21")
              PRODUCTS("1", "3", "0x00", "22") PRODUCTS("1", "3", "0x01", "23")
                  PRODUCTS("4", "5", "0x00", "24")
                      PRODUCTS("4", "5", "0x01", "25") "dec %0; jnz 1b; vzeroupper"
      : "+r"(rounds)
      :
      : "cc", CHECK_REGISTERS);
}

// One group: bits swapped three times in each of four vectors, a shuffle, eight interleavings, then
// for each pair of planes a half taken out, a sum of halves and six products.
#define SWAP(v, shift)                                               \
  "vpsrlq $" shift ", %%ymm" v ", %%ymm4; vpxor %%ymm" v             \
  ", %%ymm4, %%ymm4; "                                               \
  "vpand %%ymm12, %%ymm4, %%ymm4; vpxor %%ymm" v ", %%ymm4, %%ymm" v \
  "; "                                                               \
  "vpsllq $" shift ", %%ymm4, %%ymm4; vpxor %%ymm" v ", %%ymm4, %%ymm" v "; "
#define TRANSPOSE(v)                                                          \
  "vinserti128 $1, %%xmm13, %%ymm14, %%ymm" v "; " SWAP(v, "9") SWAP(v, "18") \
      SWAP(v, "36") "vpshufb %%ymm15, %%ymm" v ", %%ymm" v "; "
#define TIMES(half, total, by)              \
  "vpclmulqdq $" by ", %%xmm13, %%xmm" half \
  ", %%xmm5; "                              \
  "vpxor %%xmm5, %%xmm" total ", %%xmm" total "; "
#define PAIR(v)                                                                           \
  "vextracti128 $1, %%ymm" v ", %%xmm4; " TIMES("4", "6", "0x00") TIMES("4", "7", "0x01") \
      TIMES(v, "8", "0x10") TIMES(v, "9", "0x11") "vpxor %%xmm4, %%xmm" v                 \
                                                  ", %%xmm4; " TIMES("4", "10", "0x00")   \
                                                      TIMES("4", "11", "0x01")

void avx2_loop(std::size_t rounds) {
  asm volatile(
      "1: " TRANSPOSE("0") TRANSPOSE("1") TRANSPOSE("2") TRANSPOSE("3")
      "vpunpcklwd %%ymm0, %%ymm1, %%ymm4; vpunpckhwd %%ymm0, %%ymm1, %%ymm1; "
      "vpunpcklwd %%ymm2, %%ymm3, %%ymm5; vpunpckhwd %%ymm2, %%ymm3, %%ymm3; "
      "vpunpckldq %%ymm4, %%ymm5, %%ymm0; vpunpckhdq %%ymm4, %%ymm5, %%ymm2; "
      "vpunpckldq %%ymm1, %%ymm3, %%ymm5; vpunpckhdq %%ymm1, %%ymm3, %%ymm3; "
      "vmovdqa %%ymm5, %%ymm1; "
      PAIR("0") PAIR("1") PAIR("2") PAIR("3")
      "dec %0; jnz 1b; vzeroupper"
      : "+r"(rounds) : : "cc", CHECK_REGISTERS);
}

}  // namespace

double register_hash_bytes(std::string_view check_kernels, std::size_t rounds) {
  const auto times = static_cast<double>(rounds);
  if (check_kernels == "avx512-clmul") {
    avx512_loop(rounds);
    return 256 * times;
  }
  if (check_kernels == "avx2-clmul") {
    avx2_loop(rounds);
    return 128 * times;
  }
  return 0;
}

#else

double register_hash_bytes(std::string_view, std::size_t) {
  return 0;
}

#endif

}  // namespace firn::codec::bench
