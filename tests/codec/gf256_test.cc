#include "codec/gf256.h"

#include <doctest/doctest.h>

#include "codec/kernels/products.h"

namespace firn::codec {
namespace {

// The definition: polynomial product, reduced bit by bit.
std::uint8_t shift_and_add(unsigned a, unsigned b) {
  unsigned product = 0;
  for (unsigned bit = 0; bit < 8; ++bit) {
    if ((b >> bit & 1) != 0) product ^= a;
    a <<= 1;
    if ((a & 0x100) != 0) a ^= kFieldPolynomial;
  }
  return static_cast<std::uint8_t>(product);
}

std::uint8_t apply_bit_matrix(std::uint64_t matrix, std::uint8_t x) {
  unsigned result = 0;
  for (unsigned i = 0; i < 8; ++i) {
    const auto row = static_cast<std::uint8_t>(matrix >> (8 * (7 - i)));
    result |= static_cast<unsigned>(__builtin_parity(row & x)) << i;
  }
  return static_cast<std::uint8_t>(result);
}

TEST_CASE("every product equals the polynomial product modulo 0x11d") {
  for (unsigned a = 0; a < 256; ++a) {
    for (unsigned b = 0; b < 256; ++b) {
      REQUIRE(gf_multiply(static_cast<std::uint8_t>(a), static_cast<std::uint8_t>(b)) ==
              shift_and_add(a, b));
    }
  }
  CHECK(gf_multiply(0x80, 2) == 0x1d);
}

TEST_CASE("every nonzero element times its inverse is one") {
  for (unsigned a = 1; a < 256; ++a) {
    const auto element = static_cast<std::uint8_t>(a);
    REQUIRE(shift_and_add(a, gf_inverse(element)) == 1);
    REQUIRE(gf_inverse(gf_inverse(element)) == element);
  }
}

TEST_CASE("the bit matrices of the affine instruction multiply") {
  for (unsigned c = 0; c < 256; ++c) {
    for (unsigned x = 0; x < 256; ++x) {
      REQUIRE(apply_bit_matrix(kBitMatrices.by_constant[c], static_cast<std::uint8_t>(x)) ==
              shift_and_add(c, x));
    }
  }
}

}  // namespace
}  // namespace firn::codec
