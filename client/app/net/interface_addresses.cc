#include "client/app/net/interface_addresses.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <memory>

#include "proto/base/address_kind.h"

namespace firn::app {
namespace {

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
    } else if (entry->ifa_addr->sa_family == AF_INET6) {
      const auto& in = reinterpret_cast<const sockaddr_in6*>(entry->ifa_addr)->sin6_addr;
      address.ip = text_of(AF_INET6, &in);
    }
    address.link_local = address_kind(address.ip) == AddressKind::kLinkLocal;
    if (!address.ip.empty()) found.push_back(std::move(address));
  }
  return found;
}

bool in_private_range(const std::vector<InterfaceAddress>& interfaces) {
  return std::ranges::any_of(interfaces, [](const InterfaceAddress& one) {
    return address_kind(one.ip) == AddressKind::kPrivate;
  });
}

}  // namespace firn::app
