#include "proto/base/address_kind.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

namespace firn {
namespace {

using Bytes = std::span<const std::uint8_t>;

bool begins_with(Bytes address, std::uint32_t first, int bits) {
  std::uint32_t word = 0;
  for (int i = 0; i < 4; ++i) word = word << 8 | address[static_cast<std::size_t>(i)];
  return (word ^ first) >> (32 - bits) == 0;
}

AddressKind kind_of_ipv4(Bytes address) {
  struct Range {
    std::uint32_t first;
    int bits;
    AddressKind kind;
  };
  static constexpr Range kRanges[] = {
      {0x00000000, 8, AddressKind::kUnspecified}, {0x7f000000, 8, AddressKind::kLoopback},
      {0xa9fe0000, 16, AddressKind::kLinkLocal},  {0xe0000000, 3, AddressKind::kMulticast},
      {0x0a000000, 8, AddressKind::kPrivate},     {0xac100000, 12, AddressKind::kPrivate},
      {0xc0a80000, 16, AddressKind::kPrivate},    {0x64400000, 10, AddressKind::kPrivate},
      {0xc0000000, 24, AddressKind::kLinkLocal},  {0xa83f8110, 32, AddressKind::kLinkLocal},
  };
  for (const Range& range : kRanges)
    if (begins_with(address, range.first, range.bits)) return range.kind;
  return AddressKind::kGlobal;
}

// The IPv4 address that `address` leads to; empty: none. Mapped, compatible, 6to4, or through
// NAT64: the well-known prefix, and the one for local use in its longest form.
Bytes ipv4_within(Bytes address) {
  static constexpr std::array<std::uint8_t, 2> k6to4{0x20, 0x02};
  static constexpr std::array<std::uint8_t, 12> kCompatible{};
  static constexpr std::array<std::uint8_t, 12> kMapped{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  static constexpr std::array<std::uint8_t, 12> kNat64{0, 0x64, 0xff, 0x9b};
  static constexpr std::array<std::uint8_t, 6> kLocalNat64{0, 0x64, 0xff, 0x9b, 0, 1};
  const auto begins = [&](Bytes prefix) {
    return std::equal(prefix.begin(), prefix.end(), address.begin());
  };
  if (begins(k6to4)) return address.subspan(2, 4);
  const bool at_end =
      begins(kCompatible) || begins(kMapped) || begins(kNat64) || begins(kLocalNat64);
  return at_end ? address.last(4) : Bytes();
}

AddressKind kind_of_ipv6(Bytes address) {
  static constexpr std::array<std::uint8_t, 16> kLoopback{0, 0, 0, 0, 0, 0, 0, 0,
                                                          0, 0, 0, 0, 0, 0, 0, 1};
  if (std::ranges::equal(address, kLoopback)) return AddressKind::kLoopback;
  if (const Bytes ipv4 = ipv4_within(address); !ipv4.empty()) return kind_of_ipv4(ipv4);
  if (begins_with(address, 0xff000000, 8)) return AddressKind::kMulticast;
  if (begins_with(address, 0xfe800000, 10)) return AddressKind::kLinkLocal;
  if (begins_with(address, 0xfec00000, 10) || begins_with(address, 0xfc000000, 7))
    return AddressKind::kPrivate;
  return AddressKind::kGlobal;
}

}  // namespace

AddressKind address_kind(const std::string& ip) {
  std::array<std::uint8_t, 16> address{};
  if (::inet_pton(AF_INET, ip.c_str(), address.data()) == 1)
    return kind_of_ipv4(Bytes(address).first(4));
  if (::inet_pton(AF_INET6, ip.c_str(), address.data()) == 1) return kind_of_ipv6(address);
  return AddressKind::kGlobal;
}

bool may_be_named_by(const std::string& speaker, const std::string& ip, bool in_private_range) {
  const AddressKind kind = address_kind(ip);
  if (kind == AddressKind::kGlobal) return true;
  if (kind == AddressKind::kPrivate) return in_private_range;
  return kind == address_kind(speaker);
}

}  // namespace firn
