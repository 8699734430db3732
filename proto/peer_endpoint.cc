#include "proto/peer_endpoint.h"

#include <arpa/inet.h>

namespace firn::proto {

std::optional<PeerEndpoint> endpoint_from_wire(const wire::PeerAddress& from) {
  const auto id = PeerId::from_bytes(from.peer_id());
  if (!id || from.port() == 0 || from.port() > 0xffff) return std::nullopt;

  std::string_view ip = from.ip();
  if (ip.size() != 4 && ip.size() != 16) return std::nullopt;
  constexpr std::string_view kMapped("\0\0\0\0\0\0\0\0\0\0\xff\xff", 12);
  if (ip.starts_with(kMapped)) ip.remove_prefix(kMapped.size());

  char text[INET6_ADDRSTRLEN];
  FIRN_CHECK(inet_ntop(ip.size() == 4 ? AF_INET : AF_INET6, ip.data(), text, sizeof text));
  return PeerEndpoint{*id, text, static_cast<std::uint16_t>(from.port())};
}

void endpoint_to_wire(const PeerEndpoint& from, wire::PeerAddress& to) {
  char ip[sizeof(in6_addr)];
  const bool v6 = from.ip.find(':') != std::string::npos;
  FIRN_CHECK(inet_pton(v6 ? AF_INET6 : AF_INET, from.ip.c_str(), ip) == 1);
  to.set_peer_id(from.id.bytes.data(), from.id.bytes.size());
  to.set_ip(ip, v6 ? sizeof(in6_addr) : sizeof(in_addr));
  to.set_port(from.port);
}

}  // namespace firn::proto
