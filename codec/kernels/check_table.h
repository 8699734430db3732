// The table type of the kernels behind block checks (codec/check_key.h). Like table.h it holds
// nothing but data types: see there.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn::codec {

// The key's part R(z) for 128 bytes of a payload, a polynomial over GF(2) of degree below 128: the
// coefficient of z^b is bit b of `low`, that of z^(64 + b) bit b of `high`. sum = low ^ high, which
// Karatsuba's product needs.
struct CheckWord {
  std::uint64_t low, high, sum;
};

// Pointers have any alignment and nothing beyond the stated bytes is read or written. `y` and `out`
// do not overlap an input. No branch depends on what is read, and addresses in the scalar set
// alone.
struct CheckKernels {
  const char* name;  // "scalar", "avx2-clmul", ...

  // Y(z) = sum_i X_i(z) R_i(z) over GF(2^8), where X_i has the i-th 128 bytes of the payload as
  // coefficients, the first byte at z^127 (zeros stand behind the last one), and R_i = words[i].
  // y: 256 bytes, y[d] is the coefficient of z^d; y[255] is 0. words: ceil(bytes / 128).
  void (*convolve)(std::uint8_t* y, const CheckWord* words, const std::uint8_t* payload,
                   std::size_t bytes);
  // out[j] = sum_d coefficients[d] * rows[d * width + j] for j = 0..width-1, d = 0..count-1.
  // width is 4, 8 or 16.
  void (*weigh)(std::uint8_t* out, const std::uint8_t* rows, std::size_t width,
                const std::uint8_t* coefficients, std::size_t count);
};

// One per file check_*.cc of this folder; which of them are linked in, the build decides.
extern const CheckKernels kScalarCheckKernels;
extern const CheckKernels kAvx2CheckKernels;
extern const CheckKernels kAvx512CheckKernels;
extern const CheckKernels kNeonCheckKernels;

}  // namespace firn::codec
