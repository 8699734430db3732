// Arithmetic in GF(2^8) modulo x^8 + x^4 + x^3 + x^2 + 1 (0x11d), the field of the papers' code and
// of ISA-L. Addition is xor.
#pragma once

#include <cstdint>

namespace firn::codec {

inline constexpr unsigned kFieldPolynomial = 0x11d;

std::uint8_t gf_multiply(std::uint8_t a, std::uint8_t b);
// The inverse of a; a must not be 0.
std::uint8_t gf_inverse(std::uint8_t a);

}  // namespace firn::codec
