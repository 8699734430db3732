#include "codec/bench/machine_limits.h"

#include <cstdint>

namespace firn::codec::bench {
namespace {

#if defined(__x86_64__)

// Each loop body names its registers itself, so that the compiler can neither hoist nor spill;
// those above 15 a compiler for plain x86-64 does not know and does not use.
#define ALL_REGISTERS                                                                      \
  "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", \
      "xmm11", "xmm12", "xmm13", "xmm14", "xmm15"
#define LOOP(name, body, end)                                                               \
  void name(std::size_t rounds) {                                                           \
    asm volatile("1: " body "dec %0; jnz 1b; " end : "+r"(rounds) : : "cc", ALL_REGISTERS); \
  }
#define FOUR(step) step(0) step(1) step(2) step(3)
#define EIGHT(step) FOUR(step) step(4) step(5) step(6) step(7)
#define AFFINE(to, from, by) "vgf2p8affineqb $0, %%" by ", %%" from ", %%" to "; "
#define SHUFFLE(to, table, by) "vpshufb %%" by ", %%" table ", %%" to "; "
#define XOR(to, a) "vpxor %%" a ", %%" to ", %%" to "; "
#define XOR_TWO(to, a, b) "vpternlogq $0x96, %%" a ", %%" b ", %%" to "; "

// Two products of 64 bytes and their sum.
#define STEP(i)                       \
  AFFINE("zmm1" #i, "zmm30", "zmm31") \
  AFFINE("zmm2" #i, "zmm29", "zmm31") XOR_TWO("zmm" #i, "zmm1" #i, "zmm2" #i)
LOOP(avx512_gfni_macs, EIGHT(STEP), "vzeroupper")
#undef STEP
#define STEP(i) AFFINE("zmm" #i, "zmm30", "zmm31")
LOOP(avx512_gfni_multiplies, EIGHT(STEP), "vzeroupper")
#undef STEP

// One product of 64 bytes and its sum.
#define STEP(i)                        \
  SHUFFLE("zmm1" #i, "zmm30", "zmm31") \
  SHUFFLE("zmm2" #i, "zmm29", "zmm28") XOR_TWO("zmm" #i, "zmm1" #i, "zmm2" #i)
LOOP(avx512bw_macs, EIGHT(STEP), "vzeroupper")
#undef STEP
#define STEP(i) SHUFFLE("zmm1" #i, "zmm30", "zmm31") SHUFFLE("zmm2" #i, "zmm29", "zmm28")
LOOP(avx512bw_multiplies, EIGHT(STEP), "vzeroupper")
#undef STEP

// One product of 32 bytes and its sum.
#define STEP(i) AFFINE("ymm1" #i, "ymm14", "ymm15") XOR("ymm" #i, "ymm1" #i)
LOOP(avx2_gfni_macs, FOUR(STEP) FOUR(STEP), "vzeroupper")
#undef STEP
#define STEP(i) AFFINE("ymm" #i, "ymm14", "ymm15")
LOOP(avx2_gfni_multiplies, EIGHT(STEP), "vzeroupper")
#undef STEP

#define STEP(i, a, b)                 \
  SHUFFLE("ymm" #a, "ymm14", "ymm15") \
  SHUFFLE("ymm" #b, "ymm12", "ymm13") XOR("ymm" #i, "ymm" #a) XOR("ymm" #i, "ymm" #b)
#define EIGHT_IN_TURN \
  STEP(0, 8, 9)       \
  STEP(1, 10, 11)     \
  STEP(2, 6, 7) STEP(3, 8, 9) STEP(4, 10, 11) STEP(5, 6, 7) STEP(0, 8, 9) STEP(1, 10, 11)
LOOP(avx2_macs, EIGHT_IN_TURN, "vzeroupper")
#undef STEP
#define STEP(i) SHUFFLE("ymm" #i, "ymm14", "ymm15")
LOOP(avx2_multiplies, EIGHT(STEP) EIGHT(STEP), "vzeroupper")
#undef STEP

// One product of 16 bytes and its sum; this shuffle overwrites its table.
#define SHUFFLE_COPY(to, table, by) "movdqa %%" table ", %%" to "; pshufb %%" by ", %%" to "; "
#define STEP(i, a, b)                      \
  SHUFFLE_COPY("xmm" #a, "xmm14", "xmm15") \
  SHUFFLE_COPY("xmm" #b, "xmm12", "xmm13") \
  "pxor %%xmm" #a ", %%xmm" #i "; pxor %%xmm" #b ", %%xmm" #i "; "
LOOP(ssse3_macs, EIGHT_IN_TURN, "")
#undef STEP
#define STEP(i) "pshufb %%xmm15, %%xmm" #i "; "
LOOP(ssse3_multiplies, EIGHT(STEP) EIGHT(STEP), "")
#undef STEP

struct Loop {
  std::string_view kernels;
  void (*macs)(std::size_t);
  void (*multiplies)(std::size_t);
  double macs_a_round, multiplies_a_round;
};

constexpr Loop kLoops[] = {
    {"avx512-gfni", avx512_gfni_macs, avx512_gfni_multiplies, 16 * 64, 8 * 64},
    {"avx512bw", avx512bw_macs, avx512bw_multiplies, 8 * 64, 8 * 64},
    {"avx2-gfni", avx2_gfni_macs, avx2_gfni_multiplies, 8 * 32, 8 * 32},
    {"avx2", avx2_macs, avx2_multiplies, 8 * 32, 8 * 32},
    {"ssse3", ssse3_macs, ssse3_multiplies, 8 * 16, 8 * 16},
};

const Loop* find_loop(std::string_view kernels) {
  for (const Loop& loop : kLoops) {
    if (loop.kernels == kernels) return &loop;
  }
  return nullptr;
}

#endif

}  // namespace

#if defined(__x86_64__)

double register_macs(std::string_view kernels, std::size_t rounds) {
  const Loop* loop = find_loop(kernels);
  if (loop == nullptr) return 0;
  loop->macs(rounds);
  return loop->macs_a_round * static_cast<double>(rounds);
}

double register_multiplies(std::string_view kernels, std::size_t rounds) {
  const Loop* loop = find_loop(kernels);
  if (loop == nullptr) return 0;
  loop->multiplies(rounds);
  return loop->multiplies_a_round * static_cast<double>(rounds);
}

#define READ(instruction, reg, at) instruction " " #at "(%0), %%" reg "; "
#define LOW_REGISTERS "xmm0", "xmm1", "xmm2", "xmm3"

void read_all(const void* from, std::size_t bytes) {
  const auto* at = static_cast<const std::uint8_t*>(from);
  const auto* end = at + bytes;
  if (__builtin_cpu_supports("avx512f")) {
    for (; at != end; at += 256) {
      asm volatile(READ("vmovdqa64", "zmm0", 0) READ("vmovdqa64", "zmm1", 64)
                       READ("vmovdqa64", "zmm2", 128) READ("vmovdqa64", "zmm3", 192)
                   :
                   : "r"(at)
                   : "memory", LOW_REGISTERS);
    }
    asm volatile("vzeroupper" : : : LOW_REGISTERS);
    return;
  }
  for (; at != end; at += 64) {
    asm volatile(READ("movdqa", "xmm0", 0) READ("movdqa", "xmm1", 16) READ("movdqa", "xmm2", 32)
                     READ("movdqa", "xmm3", 48)
                 :
                 : "r"(at)
                 : "memory", LOW_REGISTERS);
  }
}

#else

double register_macs(std::string_view, std::size_t) {
  return 0;
}

double register_multiplies(std::string_view, std::size_t) {
  return 0;
}

void read_all(const void* from, std::size_t bytes) {
  const auto* words = static_cast<const std::uint64_t*>(from);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < bytes / 8; ++i) sum += words[i];
  asm volatile("" : : "r"(sum));
}

#endif

}  // namespace firn::codec::bench
