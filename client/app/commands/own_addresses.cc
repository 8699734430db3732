#include "client/app/commands/own_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>

#include "proto/base/limits.h"

namespace firn::app {
namespace {

bool is_ipv6(const std::string& ip) {
  return ip.find(':') != std::string::npos;
}

std::string text_of(int family, const void* address) {
  char text[INET6_ADDRSTRLEN] = {};
  return inet_ntop(family, address, text, sizeof text) != nullptr ? text : "";
}

}  // namespace

std::vector<InterfaceAddress> interface_addresses() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return {};
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(list, &freeifaddrs);
  std::vector<InterfaceAddress> found;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    if (entry->ifa_addr == nullptr) continue;
    if ((entry->ifa_flags & IFF_UP) == 0 || (entry->ifa_flags & IFF_RUNNING) == 0) continue;
    InterfaceAddress address;
    address.loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    if (entry->ifa_addr->sa_family == AF_INET) {
      const auto& in = reinterpret_cast<const sockaddr_in*>(entry->ifa_addr)->sin_addr;
      address.ip = text_of(AF_INET, &in);
      address.link_local = ntohl(in.s_addr) >> 16 == 0xa9fe;  // 169.254.0.0/16, RFC 3927
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      const auto& in = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
      address.ip = text_of(AF_INET6, &in);
      address.link_local = IN6_IS_ADDR_LINKLOCAL(&in) != 0;
    }
    if (!address.ip.empty()) found.push_back(std::move(address));
  }
  return found;
}

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
