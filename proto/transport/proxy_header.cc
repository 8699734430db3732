#include "proto/transport/proxy_header.h"

#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <string>

namespace firn::proto::transport {
namespace {

constexpr std::array<std::uint8_t, 12> kSignature = {0x0d, 0x0a, 0x0d, 0x0a, 0x00, 0x0d,
                                                     0x0a, 0x51, 0x55, 0x49, 0x54, 0x0a};
constexpr std::uint8_t kVersion = 2;
enum Command : std::uint8_t { kLocal = 0, kProxy = 1 };
enum Family : std::uint8_t { kNone = 0, kIpv4 = 1, kIpv6 = 2, kUnix = 3 };
enum Transported : std::uint8_t { kNothing = 0, kStream = 1, kDatagram = 2 };
constexpr std::array<std::size_t, 4> kAddressBytes = {0, 12, 36, 216};  // by family

Error no_header(std::string why) {
  return {ErrorCode::kProtocol, "read the PROXY header", std::move(why)};
}

SocketAddress ipv4(const std::uint8_t* addresses) {
  sockaddr_in four{};
  four.sin_family = AF_INET;
  std::memcpy(&four.sin_addr, addresses, 4);
  std::memcpy(&four.sin_port, addresses + 8, 2);
  return SocketAddress::from(reinterpret_cast<const sockaddr*>(&four), sizeof four);
}

SocketAddress ipv6(const std::uint8_t* addresses) {
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  std::memcpy(&six.sin6_addr, addresses, 16);
  std::memcpy(&six.sin6_port, addresses + 32, 2);
  return SocketAddress::from(reinterpret_cast<const sockaddr*>(&six), sizeof six);
}

}  // namespace

Status ProxyHeader::take(std::span<const std::uint8_t> bytes) {
  FIRN_CHECK(bytes.size() <= wanted());
  // Before the length is known no byte behind the fixed part is wanted.
  if (taken_ < kept_.size())
    std::copy_n(bytes.begin(), std::min(bytes.size(), kept_.size() - taken_),
                kept_.begin() + static_cast<std::ptrdiff_t>(taken_));
  const bool was_fixed = taken_ >= kFixedBytes;
  taken_ += bytes.size();
  // A byte that does not fit ends it at once: a TLS client does not wait for 16.
  if (!std::equal(
          kSignature.begin(),
          kSignature.begin() + static_cast<std::ptrdiff_t>(std::min(taken_, kSignature.size())),
          kept_.begin()))
    return no_header("what came does not begin with the signature of version 2");
  if (!was_fixed && taken_ == kFixedBytes) {
    if (Status read = read_fixed(); !read) return read;
  }
  if (taken_ >= kFixedBytes && wanted() == 0) return read_addresses();
  return Done{};
}

Status ProxyHeader::read_fixed() {
  const std::uint8_t version = kept_[12] >> 4, command = kept_[12] & 0x0f;
  if (version != kVersion) return no_header("its version is " + std::to_string(version));
  if (command > kProxy) return no_header("its command is " + std::to_string(command));
  const std::size_t length = std::size_t{kept_[14]} << 8 | kept_[15];
  total_ = kFixedBytes + length;
  if (command == kLocal) return Done{};  // family and addresses mean nothing
  const std::uint8_t family = kept_[13] >> 4, transported = kept_[13] & 0x0f;
  if (family > kUnix) return no_header("its address family is " + std::to_string(family));
  if (transported > kDatagram)
    return no_header("its transport protocol is " + std::to_string(transported));
  if (length < kAddressBytes[family])
    return no_header("its " + std::to_string(length) + " bytes are fewer than the addresses need");
  if (transported == kStream && (family == kIpv4 || family == kIpv6))
    address_bytes_ = kAddressBytes[family];
  return Done{};
}

Status ProxyHeader::read_addresses() {
  const std::uint8_t* const addresses = kept_.data() + kFixedBytes;
  if (address_bytes_ == kAddressBytes[kIpv4]) source_ = ipv4(addresses);
  if (address_bytes_ == kAddressBytes[kIpv6]) source_ = ipv6(addresses);
  return Done{};
}

}  // namespace firn::proto::transport
