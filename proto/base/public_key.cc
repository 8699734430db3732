#include "proto/base/public_key.h"

#include <algorithm>
#include <array>
#include <string>

namespace firn {
namespace {

// The coordinates y of the points, little-endian, also those written as y + p. The highest bit of a
// key is the sign of x, which does not matter here.
constexpr std::array kSmallOrder = {
    "0000000000000000000000000000000000000000000000000000000000000000",
    "0100000000000000000000000000000000000000000000000000000000000000",
    "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
    "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
    "eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
};

}  // namespace

bool is_public_key(std::string_view bytes) {
  if (bytes.size() != kIdBytes) return false;
  std::string hex;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]) & (i + 1 == bytes.size() ? 0x7f : 0xff);
    hex += "0123456789abcdef"[byte >> 4];
    hex += "0123456789abcdef"[byte & 15];
  }
  return std::ranges::find(kSmallOrder, hex) == kSmallOrder.end();
}

std::optional<PublicKey> public_key_from_text(std::string_view text) {
  const auto key = PublicKey::from_text(text);
  return key && is_public_key(key->raw()) ? key : std::nullopt;
}

}  // namespace firn
