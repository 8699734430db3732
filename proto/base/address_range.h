// The numeric addresses that begin with the same bits, written ADDRESS/BITS as in 10.0.0.0/8 (CIDR,
// RFC 4632, section 3.1); a range of one address is written without bits.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proto/base/result.h"

namespace firn {

class AddressRange {
 public:
  // IPv6 without brackets and zone. Errors: kBadInput with the right form (no address; more bits
  // than it has; an address with bits set behind those of the range, as in 10.1.0.0/8).
  static Result<AddressRange> parse(std::string_view text);

  // `ip`: numeric, as a socket tells it (SocketAddress::ip()). What is no address is in no range.
  bool contains(const std::string& ip) const;

 private:
  int family_ = 0;
  std::array<std::uint8_t, 16> bytes_{};  // network order
  std::size_t bits_ = 0;
};

}  // namespace firn
