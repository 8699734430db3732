// The dispatcher: a row for each kernel set, best first, each naming what the CPU must have.
#include "codec/kernels.h"

#if defined(FIRN_KERNELS_NEON)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <vector>

namespace firn::codec {
namespace {

struct Candidate {
  const Kernels* kernels;
  bool runs_here;
  // Of those that run here:
  const CheckKernels* checks;
  const LatticeKernels* lattices;
};

// A new instruction set is a row here, a file in codec/kernels/ and a line in codec/meson.build.
// The compiler's CPU test also asks whether the operating system keeps the wide registers.
std::vector<Candidate> detect() {
#if defined(FIRN_KERNELS_X86)
  __builtin_cpu_init();
  const bool ssse3 = __builtin_cpu_supports("ssse3");
  const bool avx2 = __builtin_cpu_supports("avx2");
  const bool gfni = __builtin_cpu_supports("gfni");
  const bool avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl");
  const CheckKernels* const checks256 =
      avx2 && __builtin_cpu_supports("pclmul") ? &kAvx2CheckKernels : &kScalarCheckKernels;
  const CheckKernels* const checks512 =
      avx512 && gfni && __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("vpclmulqdq")
          ? &kAvx512CheckKernels
          : checks256;
#if defined(FIRN_WITHOUT_LATTICES)
  const LatticeKernels* const lattices256 = &kScalarLatticeKernels;
  const LatticeKernels* const lattices512 = &kScalarLatticeKernels;
#else
  const LatticeKernels* const lattices256 =
      avx2 && __builtin_cpu_supports("fma") ? &kAvx2LatticeKernels : &kScalarLatticeKernels;
  const LatticeKernels* const lattices512 = avx512 ? &kAvx512LatticeKernels : lattices256;
#endif
  const Candidate candidates[] = {
      {&kAvx512GfniKernels, avx512 && gfni, checks512, lattices512},
      {&kAvx2GfniKernels, avx2 && gfni, checks256, lattices256},
      {&kAvx512BwKernels, avx512, checks256, lattices512},
      {&kAvx2Kernels, avx2, checks256, lattices256},
      {&kSsse3Kernels, ssse3, &kScalarCheckKernels, &kScalarLatticeKernels},
      {&kScalarKernels, true, &kScalarCheckKernels, &kScalarLatticeKernels},
  };
#elif defined(FIRN_KERNELS_NEON)
  const bool pmull = (getauxval(AT_HWCAP) & HWCAP_PMULL) != 0;
#if defined(FIRN_WITHOUT_LATTICES)
  const LatticeKernels* const lattices = &kScalarLatticeKernels;
#else
  const LatticeKernels* const lattices = &kNeonLatticeKernels;
#endif
  const Candidate candidates[] = {
      {&kNeonKernels, true, pmull ? &kNeonCheckKernels : &kScalarCheckKernels, lattices},
      {&kScalarKernels, true, &kScalarCheckKernels, &kScalarLatticeKernels},
  };
#else
  const Candidate candidates[] = {
      {&kScalarKernels, true, &kScalarCheckKernels, &kScalarLatticeKernels}};
#endif
  std::vector<Candidate> available;
  std::copy_if(std::begin(candidates), std::end(candidates), std::back_inserter(available),
               [](const Candidate& candidate) { return candidate.runs_here; });
  return available;
}

std::span<const Candidate> available_candidates() {
  static const std::vector<Candidate> available = detect();
  return available;
}

// The sets of one kind that run here, best first.
template <class Set>
std::vector<const Set*> each_once(const Set* Candidate::*kind) {
  std::vector<const Set*> sets;
  for (const Candidate& candidate : available_candidates()) {
    const Set* const set = candidate.*kind;
    if (std::find(sets.begin(), sets.end(), set) == sets.end()) sets.push_back(set);
  }
  return sets;
}

template <class Set>
const Set& going_with(const Kernels& set, const Set* Candidate::*kind, const Set& scalar) {
  for (const Candidate& candidate : available_candidates()) {
    if (candidate.kernels == &set) return *(candidate.*kind);
  }
  return scalar;  // a set that is not built in, such as a benchmark's baseline
}

}  // namespace

std::span<const Kernels* const> available_kernels() {
  static const auto available = each_once(&Candidate::kernels);
  return available;
}

std::span<const CheckKernels* const> available_check_kernels() {
  static const auto available = each_once(&Candidate::checks);
  return available;
}

const CheckKernels& check_kernels(const Kernels& set) {
  return going_with(set, &Candidate::checks, kScalarCheckKernels);
}

std::span<const LatticeKernels* const> available_lattice_kernels() {
  static const auto available = each_once(&Candidate::lattices);
  return available;
}

const LatticeKernels& lattice_kernels(const Kernels& set) {
  return going_with(set, &Candidate::lattices, kScalarLatticeKernels);
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
