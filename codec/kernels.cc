// The dispatcher: a row for each kernel set, best first, each naming what the CPU must have.
#include "codec/kernels.h"

#include <cstdlib>
#include <vector>

namespace firn::codec {
namespace {

struct Candidate {
  const Kernels* kernels;
  bool runs_here;
};

// A new instruction set is a row here, a file in codec/kernels/ and a line in codec/meson.build.
// The compiler's CPU test also asks whether the operating system keeps the wide registers.
std::vector<const Kernels*> detect() {
#if defined(FIRN_KERNELS_X86)
  __builtin_cpu_init();
  const bool ssse3 = __builtin_cpu_supports("ssse3");
  const bool avx2 = __builtin_cpu_supports("avx2");
  const bool gfni = __builtin_cpu_supports("gfni");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl");
  const Candidate candidates[] = {
      {&kAvx512GfniKernels, avx512 && gfni},
      {&kAvx2GfniKernels, avx2 && gfni},
      {&kAvx512BwKernels, avx512},
      {&kAvx2Kernels, avx2},
      {&kSsse3Kernels, ssse3},
      {&kScalarKernels, true},
  };
#elif defined(FIRN_KERNELS_NEON)
  const Candidate candidates[] = {{&kNeonKernels, true}, {&kScalarKernels, true}};
#else
  const Candidate candidates[] = {{&kScalarKernels, true}};
#endif
  std::vector<const Kernels*> available;
  for (const Candidate& candidate : candidates) {
    if (candidate.runs_here) available.push_back(candidate.kernels);
  }
  return available;
}

}  // namespace

std::span<const Kernels* const> available_kernels() {
  static const std::vector<const Kernels*> available = detect();
  return available;
}

const Kernels* find_kernels(std::string_view name) {
  for (const Kernels* kernels : available_kernels()) {
    if (name == kernels->name) return kernels;
  }
  return nullptr;
}

const Kernels& kernels() {
  static const Kernels& chosen = []() -> const Kernels& {
    const char* forced = std::getenv("FIRN_KERNELS");
    const Kernels* found = forced != nullptr ? find_kernels(forced) : nullptr;
    return found != nullptr ? *found : *available_kernels().front();
  }();
  return chosen;
}

}  // namespace firn::codec
