#include "client/medium/bits.h"

#include <algorithm>
#include <utility>

namespace firn::medium {

std::int64_t Boundary::bit() const {
  return first + (std::max_element(weights.begin(), weights.end()) - weights.begin());
}

void BitPacker::put(std::span<const std::uint8_t> bits) {
  for (const std::uint8_t bit : bits) {
    if (used_ == 0) bytes_.push_back(0);
    bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | bit << used_);
    used_ = (used_ + 1) % 8;
  }
}

std::vector<std::uint8_t> BitPacker::take(bool all) {
  if (all) used_ = 0;
  if (used_ == 0) return std::exchange(bytes_, {});
  std::vector<std::uint8_t> rest{bytes_.back()};
  bytes_.pop_back();
  return std::exchange(bytes_, std::move(rest));
}

Bits unpack(std::span<const std::uint8_t> bytes) {
  Bits bits;
  bits.reserve(bytes.size() * 8);
  for (const std::uint8_t byte : bytes)
    for (unsigned i = 0; i < 8; ++i) bits.push_back(byte >> i & 1);
  return bits;
}

}  // namespace firn::medium
