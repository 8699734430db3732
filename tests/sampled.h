// How many rounds of a long test run. Instrumented code takes several times as long, so that an
// instrumented build may take a sample of them (-Dinstrumented_all=false); others take all.
#pragma once

#include <cstdint>

namespace firn::test {

// Of `count` seeds, or steps of one seed: in a sample the first eighth, rounded up.
constexpr std::uint32_t some_of(std::uint32_t count) {
#ifdef FIRN_SAMPLED
  return (count + 7) / 8;
#else
  return count;
#endif
}

// The step from one place to the next at which something is tried: seven times as long in a sample.
// Seven, as what is repeated there often comes in twos and fours.
constexpr std::uint32_t some_step(std::uint32_t step) {
#ifdef FIRN_SAMPLED
  return step * 7;
#else
  return step;
#endif
}

}  // namespace firn::test
