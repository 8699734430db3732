// A peer's id, address and port in the form in which tables keep it: no text, no memory of its own.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "proto/messages.h"

namespace firn::proto {

struct PackedEndpoint {
  PeerId id;
  std::array<std::uint8_t, 16> ip{};  // network order; of IPv4 the first 4, the others 0
  std::uint16_t port = 0;
  bool v6 = false;

  std::span<const std::uint8_t> ip_bytes() const { return std::span(ip).first(v6 ? ip.size() : 4); }
  bool operator==(const PackedEndpoint&) const = default;
};

// nullopt if its `ip` is no numeric address.
std::optional<PackedEndpoint> pack(const PeerEndpoint& from);
PeerEndpoint unpack(const PackedEndpoint& from);

}  // namespace firn::proto
