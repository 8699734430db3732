#include "codec/gf256.h"

#include <array>

#include "codec/kernels/products.h"

namespace firn::codec {
namespace {

// x generates the multiplicative group, so x^i and x^(255 - i) are inverse to each other.
constexpr std::array<std::uint8_t, 256> make_inverses() {
  std::array<std::uint8_t, 256> powers{};
  unsigned power = 1;
  for (unsigned i = 0; i < 256; ++i) {
    powers[i] = static_cast<std::uint8_t>(power);
    power = (power << 1) ^ ((power & 0x80) != 0 ? kFieldPolynomial : 0);
  }
  std::array<std::uint8_t, 256> inverses{};
  for (unsigned i = 0; i < 255; ++i) inverses[powers[i]] = powers[255 - i];
  return inverses;
}

constinit const std::array<std::uint8_t, 256> kInverses = make_inverses();

}  // namespace

std::uint8_t gf_multiply(std::uint8_t a, std::uint8_t b) {
  const auto* products = kNibbleProducts.by_constant[a];
  return products[b & 15] ^ products[16 + (b >> 4)];
}

std::uint8_t gf_inverse(std::uint8_t a) {
  return kInverses[a];
}

}  // namespace firn::codec
