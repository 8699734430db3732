#include "codec/kernels/products.h"

#include "codec/gf256.h"

namespace firn::codec {
namespace {

// c * x, where x is the polynomial x (the byte 2).
constexpr unsigned times_x(unsigned c) {
  return (c << 1) ^ ((c & 0x80) != 0 ? kFieldPolynomial : 0);
}

constexpr NibbleProducts make_nibble_products() {
  NibbleProducts products{};
  for (unsigned c = 0; c < 256; ++c) {
    auto* row = products.by_constant[c];
    unsigned power = c;  // c * x^bit
    for (unsigned bit = 0; bit < 8; ++bit, power = times_x(power)) {
      auto* half = row + (bit < 4 ? 0 : 16);
      const unsigned top = 1u << (bit % 4);
      for (unsigned rest = 0; rest < top; ++rest) {
        half[top + rest] = static_cast<std::uint8_t>(half[rest] ^ power);
      }
    }
  }
  return products;
}

constexpr BitMatrices make_bit_matrices() {
  BitMatrices matrices{};
  for (unsigned c = 0; c < 256; ++c) {
    std::uint64_t matrix = 0;
    unsigned column = c;  // c * x^j: what input bit j contributes
    for (unsigned j = 0; j < 8; ++j, column = times_x(column)) {
      for (unsigned i = 0; i < 8; ++i) {
        matrix |= std::uint64_t{(column >> i) & 1} << (8 * (7 - i) + j);
      }
    }
    matrices.by_constant[c] = matrix;
  }
  return matrices;
}

}  // namespace

constinit const NibbleProducts kNibbleProducts = make_nibble_products();
constinit const BitMatrices kBitMatrices = make_bit_matrices();

}  // namespace firn::codec
