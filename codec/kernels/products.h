// Multiplication by each constant of GF(2^8), in the two forms that vector instructions take.
// Computed at compile time from the field polynomial; read-only.
#pragma once

#include <cstdint>

namespace firn::codec {

// by_constant[c] holds c * x for x = 0..15, then c * (x << 4) for x = 0..15: the two tables of a
// byte shuffle. c * b is the xor of one entry from each half.
struct NibbleProducts {
  alignas(64) std::uint8_t by_constant[256][32];
};
extern const NibbleProducts kNibbleProducts;

// by_constant[c] is the 8 x 8 bit matrix of x -> c * x as GF2P8AFFINEQB reads it: byte 7 - i is the
// row that makes output bit i, and its bit j takes input bit j. (GF2P8MULB itself multiplies modulo
// 0x11b, which is another field.)
struct BitMatrices {
  alignas(64) std::uint64_t by_constant[256];
};
extern const BitMatrices kBitMatrices;

// The isomorphism between this field and the one modulo 0x11b, in the form of BitMatrices:
// GF2P8MULB of two mapped bytes is the mapped product. For sums of products of two variables.
struct FieldMaps {
  std::uint64_t to_11b, from_11b;
};
extern const FieldMaps kFieldMaps;

}  // namespace firn::codec
