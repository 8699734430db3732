// The header that a proxy puts before a connection it passes on, so that the receiver learns where
// the connection came from: PROXY protocol, version 2 (HAProxy's proxy-protocol.txt, section 2.2).
//
//   0    signature, 12 bytes: 0d 0a 0d 0a 00 0d 0a 51 55 49 54 0a
//   12   version 2 in the upper half, command in the lower: 0 LOCAL, 1 PROXY
//   13   family in the upper half: 0 none, 1 IPv4, 2 IPv6, 3 UNIX; transport: 0 none, 1 TCP, 2 UDP
//   14   bytes that follow, 16 bits, big-endian
//   16   source address, destination address, source port, destination port; then TLVs
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "proto/base/result.h"
#include "proto/transport/sockets.h"

namespace firn::proto::transport {

// Reads one header as it comes, and not a byte behind it. Of its up to 65,551 bytes it keeps 52.
class ProxyHeader {
 public:
  // How many bytes take() may be given next, at most; 0: the header is whole.
  std::size_t wanted() const { return total_ - taken_; }
  // The next bytes of the stream, wanted() at most (FIRN_CHECK). Errors: kProtocol; then nothing
  // may be asked any more.
  Status take(std::span<const std::uint8_t> bytes);

  // Of a whole header: the TCP connection's source. nullopt: the header names none that one could
  // connect to (the proxy's own connection, as for a health check; another family or transport), so
  // that the socket's own address counts, as section 2.2 says.
  const std::optional<SocketAddress>& source() const { return source_; }

 private:
  static constexpr std::size_t kFixedBytes = 16;
  static constexpr std::size_t kAddressBytesMax = 36;  // of IPv6

  Status read_fixed();
  Status read_addresses();

  std::array<std::uint8_t, kFixedBytes + kAddressBytesMax> kept_{};
  std::size_t taken_ = 0;
  std::size_t total_ = kFixedBytes;  // as far as is known
  std::size_t address_bytes_ = 0;    // that the family needs
  std::optional<SocketAddress> source_;
};

}  // namespace firn::proto::transport
