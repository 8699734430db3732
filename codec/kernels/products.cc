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

// The matrix whose column j, what input bit j contributes, is columns[j].
constexpr std::uint64_t make_bit_matrix(const unsigned (&columns)[8]) {
  std::uint64_t matrix = 0;
  for (unsigned j = 0; j < 8; ++j) {
    for (unsigned i = 0; i < 8; ++i) {
      matrix |= std::uint64_t{(columns[j] >> i) & 1} << (8 * (7 - i) + j);
    }
  }
  return matrix;
}

constexpr BitMatrices make_bit_matrices() {
  BitMatrices matrices{};
  for (unsigned c = 0; c < 256; ++c) {
    unsigned columns[8] = {c};
    for (unsigned j = 1; j < 8; ++j) columns[j] = times_x(columns[j - 1]);
    matrices.by_constant[c] = make_bit_matrix(columns);
  }
  return matrices;
}

constexpr unsigned multiply_modulo_11b(unsigned a, unsigned b) {
  unsigned product = 0;
  for (; b != 0; b >>= 1, a = (a << 1) ^ ((a & 0x80) != 0 ? 0x11b : 0)) {
    if ((b & 1) != 0) product ^= a;
  }
  return product;
}

// x goes to a root of this field's polynomial in the other field.
constexpr FieldMaps make_field_maps() {
  for (unsigned root = 2; root < 256; ++root) {
    unsigned powers[9] = {1};
    for (unsigned i = 1; i < 9; ++i) powers[i] = multiply_modulo_11b(powers[i - 1], root);
    if ((powers[8] ^ powers[4] ^ powers[3] ^ powers[2] ^ powers[0]) != 0) continue;
    const unsigned columns[8] = {powers[0], powers[1], powers[2], powers[3],
                                 powers[4], powers[5], powers[6], powers[7]};
    unsigned preimages[8] = {};
    for (unsigned element = 1; element < 256; ++element) {
      unsigned image = 0;
      for (unsigned bit = 0; bit < 8; ++bit) image ^= (element >> bit & 1) * columns[bit];
      for (unsigned bit = 0; bit < 8; ++bit) {
        if (image == 1u << bit) preimages[bit] = element;
      }
    }
    return {make_bit_matrix(columns), make_bit_matrix(preimages)};
  }
  return {};
}

}  // namespace

constinit const NibbleProducts kNibbleProducts = make_nibble_products();
constinit const BitMatrices kBitMatrices = make_bit_matrices();
constinit const FieldMaps kFieldMaps = make_field_maps();

}  // namespace firn::codec
