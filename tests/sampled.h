// How much of a long loop runs. Instrumented code takes five to ten times as long, so that an
// instrumented build may run a sample of them (-Dinstrumented_all=false); others run them all.
#pragma once

#include <cstdint>

namespace firn::test {

// Of `count` seeds: the first third, rounded up, in a sample.
constexpr std::uint32_t some_of(std::uint32_t count) {
#ifdef FIRN_SAMPLED
  return (count + 2) / 3;
#else
  return count;
#endif
}

}  // namespace firn::test
