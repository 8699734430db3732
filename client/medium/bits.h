// Bits of a medium as they stand in its file: bit i of the medium is bit i mod 8 of byte i / 8, the
// lowest first. The last byte is filled up with zeros, which a reader takes for noise.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "codec/sync/channel.h"

namespace firn::medium {

using codec::sync::Bits;  // one a byte, each 0 or 1

// A part of what was read: bits[i] is bit first + i of the medium.
struct Window {
  std::int64_t first = 0;
  std::span<const std::uint8_t> bits;
  std::int64_t end() const { return first + static_cast<std::int64_t>(bits.size()); }
};

// A place between two bits that is known with doubt: weights[i], not negative, is in proportion to
// the probability that it stands before bit first + i.
struct Boundary {
  std::int64_t first = 0;
  std::vector<double> weights;
  // The likeliest; the earliest of several.
  std::int64_t bit() const;
};

// Takes bits and gives whole bytes.
class BitPacker {
 public:
  void put(std::span<const std::uint8_t> bits);
  // The bytes that are whole, which are forgotten here; with `all` the last one too.
  std::vector<std::uint8_t> take(bool all = false);

 private:
  std::vector<std::uint8_t> bytes_;
  unsigned used_ = 0;  // bits of the byte that is not whole, the last of bytes_
};

// The bits of whole bytes.
Bits unpack(std::span<const std::uint8_t> bytes);

}  // namespace firn::medium
