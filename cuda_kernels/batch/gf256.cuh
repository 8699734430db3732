// Device arithmetic in GF(2^8) modulo 0x11d, and tables computed at compile time.
#pragma once

#include <cstdint>

#include "codec/gf256.h"

namespace firn::cuda {

constexpr std::uint8_t multiply_constant(unsigned a, unsigned b) {
  unsigned product = 0;
  for (; b != 0; b >>= 1) {
    if (b & 1) product ^= a;
    a <<= 1;
    if (a & 0x100) a ^= codec::kFieldPolynomial;
  }
  return static_cast<std::uint8_t>(product);
}

// log_of[c] for c > 0 and power_of[e] = x^e for e < 510: a * b = power_of[log_of[a] + log_of[b]].
struct Logarithms {
  std::uint8_t log_of[256];
  std::uint8_t power_of[512];
};
constexpr Logarithms make_logarithms() {
  Logarithms tables{};
  unsigned value = 1;
  for (int e = 0; e < 512; ++e) {
    tables.power_of[e] = static_cast<std::uint8_t>(value);
    if (e < 255) tables.log_of[value] = static_cast<std::uint8_t>(e);
    value = multiply_constant(value, 2);
  }
  return tables;
}

// Multiplication by c as an 8 x 8 bit matrix: byte b of of[c] is the row that makes output bit b,
// and its bit t is bit b of c * x^t.
struct BitMatrices {
  std::uint64_t of[256];
};
constexpr BitMatrices make_bit_matrices() {
  BitMatrices matrices{};
  for (unsigned c = 0; c < 256; ++c) {
    for (unsigned t = 0; t < 8; ++t) {
      const unsigned column = multiply_constant(c, 1u << t);
      for (unsigned b = 0; b < 8; ++b) {
        matrices.of[c] |= static_cast<std::uint64_t>(column >> b & 1) << (8 * b + t);
      }
    }
  }
  return matrices;
}

// Each of the four bytes of a word times x.
__device__ __forceinline__ std::uint32_t times_x(std::uint32_t word) {
  const std::uint32_t carries = (word >> 7) & 0x01010101u;
  return ((word << 1) & 0xfefefefeu) ^ (carries * (codec::kFieldPolynomial & 0xff));
}

}  // namespace firn::cuda
