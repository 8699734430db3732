// GF(2^8) as pairs over its subfield GF(2^4), so that a product takes three products of the
// subfield instead of four (Karatsuba): 48 bit products where the 8 x 8 bit matrix takes 64.
//
// Every byte is b = u f + v g with u, v in GF(2^4) and two fixed bytes f and g. Then
//   b b' = uu' (f^2 + fg) + vv' (g^2 + fg) + (u + v)(u' + v') fg.
// Elements of GF(2^4) are written by four coordinates in a basis, so its products are 4 x 4 bit
// matrices. f, g and the basis are free. These were searched for (10^7 random choices) so that
// taking a byte apart is cheap: as an 8 x 8 bit matrix, that map has ones on 6 of the 15 diagonals
// only, and each diagonal is a shift and a mask, for four bytes at once.
#pragma once

#include <array>
#include <cstdint>

#include "codec/gf256.h"

namespace firn::cuda {

constexpr unsigned tower_multiply(unsigned a, unsigned b) {
  unsigned product = 0;
  for (; b != 0; b >>= 1) {
    if (b & 1) product ^= a;
    a <<= 1;
    if (a & 0x100) a ^= codec::kFieldPolynomial;
  }
  return product;
}

inline constexpr unsigned kTowerBasis[4] = {78, 152, 153, 10};  // of GF(2^4)
inline constexpr unsigned kTowerF = 228, kTowerG = 91;

constexpr unsigned from_coordinates(unsigned four) {
  unsigned value = 0;
  for (int i = 0; i < 4; ++i) {
    if (four >> i & 1) value ^= kTowerBasis[i];
  }
  return value;
}

// parts[b] = u's coordinates, and v's in the high half byte.
constexpr std::array<std::uint8_t, 256> make_tower_parts() {
  std::array<std::uint8_t, 256> parts{};
  for (unsigned uv = 0; uv < 256; ++uv) {
    const unsigned byte = tower_multiply(from_coordinates(uv & 15), kTowerF) ^
                          tower_multiply(from_coordinates(uv >> 4), kTowerG);
    parts[byte] = static_cast<std::uint8_t>(uv);
  }
  return parts;
}

// For each coefficient byte, 12 half bytes of bit rows: half byte 4 p + i, bit j is coordinate i of
// c_p times basis element j, where c_p is the coefficient's u, v, u + v for p = 0, 1, 2.
struct TowerMatrices {
  std::uint64_t of[256];
};
constexpr TowerMatrices make_tower_matrices() {
  unsigned rows[16][4] = {};  // of an element of GF(2^4), by coordinates
  unsigned coordinates[256] = {};
  for (unsigned four = 0; four < 16; ++four) coordinates[from_coordinates(four)] = four;
  for (unsigned four = 0; four < 16; ++four) {
    for (unsigned j = 0; j < 4; ++j) {
      const unsigned column = coordinates[tower_multiply(from_coordinates(four), kTowerBasis[j])];
      for (unsigned i = 0; i < 4; ++i) rows[four][i] |= (column >> i & 1) << j;
    }
  }
  const auto parts = make_tower_parts();
  TowerMatrices matrices{};
  for (unsigned c = 0; c < 256; ++c) {
    const unsigned u = parts[c] & 15, v = parts[c] >> 4;
    const unsigned planes[3] = {u, v, u ^ v};
    for (unsigned p = 0; p < 3; ++p) {
      for (unsigned i = 0; i < 4; ++i) {
        matrices.of[c] |= static_cast<std::uint64_t>(rows[planes[p]][i]) << (4 * (4 * p + i));
      }
    }
  }
  return matrices;
}

// The byte that coordinate i of the sum of plane p's products stands for; its index is 4 p + i.
constexpr std::array<std::uint8_t, 12> make_tower_outputs() {
  const unsigned ff = tower_multiply(kTowerF, kTowerF), fg = tower_multiply(kTowerF, kTowerG);
  const unsigned gg = tower_multiply(kTowerG, kTowerG);
  const unsigned factors[3] = {ff ^ fg, gg ^ fg, fg};
  std::array<std::uint8_t, 12> outputs{};
  for (unsigned j = 0; j < 12; ++j) {
    outputs[j] = static_cast<std::uint8_t>(tower_multiply(factors[j / 4], kTowerBasis[j % 4]));
  }
  return outputs;
}

// make_tower_parts() as masks: parts(b) is the sum over d of b shifted by d (up if d > 0) and
// masks[d + 7].
constexpr std::array<std::uint8_t, 15> make_tower_diagonals() {
  std::array<std::uint8_t, 15> masks{};
  const auto parts = make_tower_parts();
  for (int from = 0; from < 8; ++from) {
    for (int to = 0; to < 8; ++to) {
      const unsigned one = parts[1u << from] >> to & 1;
      masks[static_cast<unsigned>(to - from + 7)] |= static_cast<std::uint8_t>(one << to);
    }
  }
  return masks;
}

}  // namespace firn::cuda
