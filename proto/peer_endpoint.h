// PeerEndpoint (ip as text) to and from wire::PeerAddress (ip as bytes); used by peer exchange and
// by the tracker's answers.
#pragma once

#include <optional>

#include "proto/messages.h"
#include "proto/wire.h"

namespace firn::proto {

// nullopt unless the id has 32 bytes, the ip 4 or 16, and the port is 1..65535. An IPv4-mapped
// IPv6 address (RFC 4291, section 2.5.5.2) becomes the IPv4 address it stands for.
std::optional<PeerEndpoint> endpoint_from_wire(const wire::PeerAddress& from);

// `from.ip` must be a numeric address without a zone (FIRN_CHECK).
void endpoint_to_wire(const PeerEndpoint& from, wire::PeerAddress& to);

}  // namespace firn::proto
