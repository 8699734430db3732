#include "client/app/commands/own_addresses.h"

#include <algorithm>

#include "proto/base/limits.h"

namespace firn::app {
namespace {

bool is_ipv6(const std::string& ip) {
  return ip.find(':') != std::string::npos;
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

std::vector<Address> link_addresses(const NetworkOptions& network, const Address& listening,
                                    bool with_tracker) {
  const std::string host = listen_address(network)->host;
  const bool given = !host.empty() && host != "*" && host != "0.0.0.0" && host != "::";
  if (with_tracker && !given) return {};
  return reachable_addresses(host, listening, interface_addresses());
}

}  // namespace firn::app
