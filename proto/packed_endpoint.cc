#include "proto/packed_endpoint.h"

#include <arpa/inet.h>

namespace firn::proto {

std::optional<PackedEndpoint> pack(const PeerEndpoint& from) {
  PackedEndpoint packed{.id = from.id, .ip = {}, .port = from.port, .v6 = false};
  packed.v6 = from.ip.find(':') != std::string::npos;
  if (::inet_pton(packed.v6 ? AF_INET6 : AF_INET, from.ip.c_str(), packed.ip.data()) != 1)
    return std::nullopt;
  return packed;
}

PeerEndpoint unpack(const PackedEndpoint& from) {
  char text[INET6_ADDRSTRLEN];
  FIRN_CHECK(::inet_ntop(from.v6 ? AF_INET6 : AF_INET, from.ip.data(), text, sizeof text));
  return {from.id, text, from.port};
}

}  // namespace firn::proto
