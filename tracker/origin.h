// Where a peer comes from, as tables count it: its network (an IPv4 address, an IPv6 /64) and the
// prefix of that (an IPv4 /24, an IPv6 /48), as numbers.
#pragma once

#include <cstdint>
#include <string>

#include "proto/base/address.h"
#include "proto/packed_endpoint.h"

namespace firn::tracker {

// The same as names (proto/base/address.h).
struct Where {
  std::string prefix, network;
};
inline Where where_of(const std::string& ip) {
  return {prefix_of(ip), network_of(ip)};
}

class Origin {
 public:
  explicit Origin(const proto::PackedEndpoint& endpoint);
  Origin(const Where& where);  // of a numeric address (FIRN_CHECK)
  static Origin of_network(std::uint64_t network) { return Origin(network); }

  std::uint64_t network() const { return network_; }
  std::uint64_t prefix() const { return is_ipv4() ? network_ & ~0xffull : network_ & ~0xffffull; }
  bool operator==(const Origin&) const = default;

 private:
  // No IPv6 address in use begins with so many ones.
  static constexpr std::uint64_t kIpv4 = 0xffffffff'00000000;

  explicit Origin(std::uint64_t network) : network_(network) {}
  bool is_ipv4() const { return network_ >= kIpv4; }

  std::uint64_t network_;
};

}  // namespace firn::tracker
