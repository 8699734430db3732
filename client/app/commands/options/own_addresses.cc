#include "client/app/commands/options/own_addresses.h"

#include <algorithm>

#include "proto/base/address_kind.h"
#include "proto/base/limits.h"

namespace firn::app {
namespace {

bool is_ipv6(const std::string& ip) {
  return ip.find(':') != std::string::npos;
}

AddressKind reach_of(const std::string& host) {
  return host == "localhost" ? AddressKind::kLoopback
                             : address_kind(host.substr(0, host.find('%')));
}

}  // namespace

std::vector<Address> reachable_addresses(const std::string& listen_host, const Address& bound,
                                         const std::vector<InterfaceAddress>& interfaces) {
  const bool every = listen_host.empty() || listen_host == "*" || listen_host == "::";
  if (!every && listen_host != "0.0.0.0") return {Address{bound.id, listen_host, bound.port}};
  const bool ipv6 = every && is_ipv6(bound.host);  // a machine without IPv6 listens at 0.0.0.0
  const auto usable = [&](const InterfaceAddress& address) {
    return !address.link_local && (ipv6 || !is_ipv6(address.ip));
  };
  const bool others = std::ranges::any_of(interfaces, [&](const InterfaceAddress& address) {
    return usable(address) && !address.loopback;
  });
  std::vector<Address> addresses;
  for (const InterfaceAddress& address : interfaces) {
    if (!usable(address) || (others && address.loopback)) continue;
    const Address reachable{bound.id, address.ip, bound.port};
    if (std::ranges::find(addresses, reachable) != addresses.end()) continue;
    if (addresses.size() < limits::kPeerExchangeMax) addresses.push_back(reachable);
  }
  return addresses;
}

std::vector<Address> link_addresses(const NetworkOptions& network, const Address& listening) {
  return reachable_addresses(listen_address(network)->host, listening, interface_addresses());
}

std::string reach_warning(const std::vector<Address>& trackers, const std::vector<Address>& peers) {
  bool near = false;
  for (const auto* addresses : {&trackers, &peers})
    for (const Address& address : *addresses) {
      const AddressKind kind = reach_of(address.host);
      if (kind == AddressKind::kGlobal) return {};
      near |= kind != AddressKind::kLoopback;
    }
  const std::string names = trackers.empty() ? "no tracker: the link names" : "the link names";
  if (!near)
    return names +
           " only addresses that mean this machine itself, so no other machine can use it; "
           "--tracker HOST with a name or address that others reach, and --listen without "
           "a loopback address, make it work elsewhere";
  return names +
         " only addresses of private networks, so it works on machines that reach these; "
         "elsewhere it works with a --tracker on the internet, if receivers reach the port of this "
         "machine or of another peer";
}

}  // namespace firn::app
