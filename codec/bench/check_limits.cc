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

// clang-format off
// Two groups of 128 bytes: planes of four vectors, two sums of halves, twelve products.
#define PLANES(to)                                        \
  "vgf2p8affineqb $0, %%zmm16, %%zmm17, %%zmm" to "; "   \
  "vpermb %%zmm" to ", %%zmm18, %%zmm" to "; "
#define PRODUCTS(a, b, half, total)                       \
  "vpclmulqdq $" half ", %%zmm19, %%zmm" a ", %%zmm6; "   \
  "vpclmulqdq $" half ", %%zmm26, %%zmm" b ", %%zmm7; "   \
  "vpternlogq $0x96, %%zmm6, %%zmm7, %%zmm" total "; "

void avx512_loop(std::size_t rounds) {
  asm volatile(
      "1: "
      PLANES("0") PLANES("1") PLANES("2") PLANES("3")
      "vpxorq %%zmm0, %%zmm1, %%zmm4; vpxorq %%zmm2, %%zmm3, %%zmm5; "
      PRODUCTS("0", "2", "0x00", "20") PRODUCTS("0", "2", "0x01", "21")
      PRODUCTS("1", "3", "0x00", "22") PRODUCTS("1", "3", "0x01", "23")
      PRODUCTS("4", "5", "0x00", "24") PRODUCTS("4", "5", "0x01", "25")
      "dec %0; jnz 1b; vzeroupper"
      : "+r"(rounds) : : "cc", CHECK_REGISTERS);
}

// Two groups in four equal parts, each of two lanes joined, two shuffles, six interleavings, three
// swaps of bits, a sum of two pairs of halves and twelve products.
#define SWAP(a, b, distance)                                             \
  "vpsrlw $" distance ", %%ymm" a ", %%ymm4; vpxor %%ymm" b ", %%ymm4, %%ymm4; "   \
  "vpand %%ymm12, %%ymm4, %%ymm4; vpxor %%ymm" b ", %%ymm4, %%ymm" b "; "          \
  "vpsllw $" distance ", %%ymm4, %%ymm4; vpxor %%ymm" a ", %%ymm4, %%ymm" a "; "
#define TIMES(planes, half, total)                                       \
  "vpclmulqdq $" half ", %%xmm13, %%xmm" planes ", %%xmm5; "             \
  "vpxor %%xmm5, %%xmm" total ", %%xmm" total "; "

void avx2_loop(std::size_t rounds) {
  asm volatile(
      "1: .rept 4; "
      "vinserti128 $1, %%xmm13, %%ymm14, %%ymm0; vinserti128 $1, %%xmm13, %%ymm14, %%ymm1; "
      "vpshufb %%ymm15, %%ymm0, %%ymm0; vpshufb %%ymm15, %%ymm1, %%ymm1; "
      "vpunpcklwd %%ymm0, %%ymm1, %%ymm2; vpunpckhwd %%ymm0, %%ymm1, %%ymm3; "
      "vpunpckldq %%ymm2, %%ymm3, %%ymm0; vpunpckhdq %%ymm2, %%ymm3, %%ymm1; "
      "vpunpcklqdq %%ymm0, %%ymm1, %%ymm2; vpunpckhqdq %%ymm0, %%ymm1, %%ymm3; "
      SWAP("2", "3", "4") SWAP("2", "3", "2") SWAP("2", "3", "1")
      "vpunpcklqdq %%ymm2, %%ymm3, %%ymm0; vpunpckhqdq %%ymm2, %%ymm3, %%ymm1; "
      "vpxor %%ymm0, %%ymm1, %%ymm0; "
      TIMES("2", "0x00", "6") TIMES("2", "0x11", "7") TIMES("3", "0x00", "8")
      TIMES("3", "0x11", "9") TIMES("0", "0x00", "10") TIMES("0", "0x01", "11")
      TIMES("2", "0x00", "6") TIMES("2", "0x11", "7") TIMES("3", "0x00", "8")
      TIMES("3", "0x11", "9") TIMES("0", "0x00", "10") TIMES("0", "0x01", "11")
      ".endr; dec %0; jnz 1b; vzeroupper"
      : "+r"(rounds) : : "cc", CHECK_REGISTERS);
}
// clang-format on

}  // namespace

double register_hash_bytes(std::string_view check_kernels, std::size_t rounds) {
  const auto times = static_cast<double>(rounds);
  if (check_kernels == "avx512-clmul") {
    avx512_loop(rounds);
    return 256 * times;
  }
  if (check_kernels == "avx2-clmul") {
    avx2_loop(rounds);
    return 256 * times;
  }
  return 0;
}

#else

double register_hash_bytes(std::string_view, std::size_t) {
  return 0;
}

#endif

}  // namespace firn::codec::bench
