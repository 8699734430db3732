#include "proto/base/address_range.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "proto/base/limits.h"
#include "proto/base/plain_text.h"

namespace firn {
namespace {

struct Numeric {
  int family = 0;
  std::array<std::uint8_t, 16> bytes{};
  std::size_t bits() const { return family == AF_INET ? 32 : 128; }
};

std::optional<Numeric> numeric(const std::string& ip) {
  if (ip.find('\0') != std::string::npos) return std::nullopt;  // inet_pton would stop there
  Numeric result;
  for (const int family : {AF_INET, AF_INET6}) {
    result.family = family;
    if (::inet_pton(family, ip.c_str(), result.bytes.data()) == 1) return result;
  }
  return std::nullopt;
}

// Whether the bits [from, to) of both are the same.
bool same_bits(const std::array<std::uint8_t, 16>& a, const std::array<std::uint8_t, 16>& b,
               std::size_t from, std::size_t to) {
  for (std::size_t bit = from; bit < to; ++bit) {
    const std::uint8_t difference = a[bit / 8] ^ b[bit / 8];
    if ((difference >> (7 - bit % 8) & 1) != 0) return false;
  }
  return true;
}

Error bad_range(std::string_view text, const std::string& why) {
  return {ErrorCode::kBadInput,
          "read the addresses '" + to_plain_text(text, limits::kAddressBytesMax) + "'",
          why + "; write ADDRESS or ADDRESS/BITS, as in 192.0.2.7 or 2001:db8::/32"};
}

}  // namespace

Result<AddressRange> AddressRange::parse(std::string_view text) {
  if (text.size() > limits::kAddressBytesMax) return bad_range(text, "it is too long");
  const std::size_t slash = std::min(text.find('/'), text.size());
  const auto address = numeric(std::string(text.substr(0, slash)));
  if (!address) return bad_range(text, "there is no numeric address");
  AddressRange range;
  range.family_ = address->family;
  range.bytes_ = address->bytes;
  range.bits_ = address->bits();
  if (slash < text.size()) {
    const std::string_view bits = text.substr(slash + 1);
    const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), range.bits_);
    if (error != std::errc{} || end != bits.data() + bits.size() || range.bits_ > address->bits())
      return bad_range(text, "behind the slash there is no number of bits from 0 to " +
                                 std::to_string(address->bits()));
  }
  if (!same_bits(range.bytes_, {}, range.bits_, address->bits()))
    return bad_range(text,
                     "the address has bits set behind the first " + std::to_string(range.bits_));
  return range;
}

bool AddressRange::contains(const std::string& ip) const {
  const auto address = numeric(ip);
  return address && address->family == family_ && same_bits(bytes_, address->bytes, 0, bits_);
}

}  // namespace firn
