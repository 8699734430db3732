// While it lives, numbers too small to be normal are taken and made as 0 by this thread. The tails
// of alpha and beta fade through that range, where an operation costs up to twenty times as much;
// what they are worth is below 1e-37 of the frame's mass.
#pragma once

#if defined(__SSE2__)
#include <xmmintrin.h>
#elif defined(__aarch64__)
#include <cstdint>
#endif

namespace firn::codec::sync {

class FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() : before_(_mm_getcsr()) {
    _mm_setcsr(before_ | kFlushResults | kFlushInputs);
  }
  ~FlushDenormals() {
    _mm_setcsr(before_);
  }
#elif defined(__aarch64__)
  FlushDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" : : "r"(before_ | kFlush));
  }
  ~FlushDenormals() {
    asm volatile("msr fpcr, %0" : : "r"(before_));
  }
#else
  FlushDenormals() {}
  ~FlushDenormals() {}
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__)
  static constexpr unsigned kFlushResults = 0x8000, kFlushInputs = 0x0040;
  unsigned before_;
#elif defined(__aarch64__)
  static constexpr std::uint64_t kFlush = std::uint64_t{1} << 24;
  std::uint64_t before_;
#endif
};

}  // namespace firn::codec::sync
