// Logarithms to the base a = 2 in GF(2^8) modulo 0x11d, for work on single elements; rows of them
// are the kernels' work.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "codec/gf256.h"

namespace firn::codec {

struct Logarithms {
  std::array<std::uint8_t, 510>
      powers{};                          // a^i; twice, so that a sum of two logarithms is an index
  std::array<std::uint8_t, 256> logs{};  // of x > 0
};

constexpr Logarithms make_logarithms() {
  Logarithms table;
  unsigned power = 1;
  for (unsigned i = 0; i < 255; ++i) {
    table.powers[i] = table.powers[i + 255] = static_cast<std::uint8_t>(power);
    table.logs[power] = static_cast<std::uint8_t>(i);
    power = (power << 1) ^ ((power & 0x80) != 0 ? kFieldPolynomial : 0);
  }
  return table;
}

inline constexpr Logarithms kLogarithms = make_logarithms();

// a^exponent.
inline std::uint8_t power_of_a(std::size_t exponent) {
  return kLogarithms.powers[exponent % 255];
}

// a * b by logarithms.
inline std::uint8_t log_product(std::uint8_t a, std::uint8_t b) {
  if (a == 0 || b == 0) return 0;
  return kLogarithms.powers[std::size_t{kLogarithms.logs[a]} + kLogarithms.logs[b]];
}

// a / b; b is not 0.
inline std::uint8_t log_quotient(std::uint8_t a, std::uint8_t b) {
  if (a == 0) return 0;
  return kLogarithms.powers[std::size_t{kLogarithms.logs[a]} + 255 - kLogarithms.logs[b]];
}

}  // namespace firn::codec
