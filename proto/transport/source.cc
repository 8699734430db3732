#include "proto/transport/source.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netinet/ip.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <set>

namespace firn::proto::transport {
namespace {

struct IfaddrsFree {
  void operator()(ifaddrs* list) const { ::freeifaddrs(list); }
};

// The IP address alone, as bytes that compare equal for equal addresses.
std::string ip_bytes(const SocketAddress& address) {
  if (address.storage.ss_family == AF_INET6) {
    sockaddr_in6 six;
    std::memcpy(&six, &address.storage, sizeof six);
    return {reinterpret_cast<const char*>(&six.sin6_addr), sizeof six.sin6_addr};
  }
  sockaddr_in four;
  std::memcpy(&four, &address.storage, sizeof four);
  return {reinterpret_cast<const char*>(&four.sin_addr), sizeof four.sin_addr};
}

bool is_any(const SocketAddress& address) {
  const std::string bytes = ip_bytes(address);
  return std::all_of(bytes.begin(), bytes.end(), [](char byte) { return byte == 0; });
}

bool is_link_local(const SocketAddress& address) {
  if (address.storage.ss_family != AF_INET6) return false;
  sockaddr_in6 six;
  std::memcpy(&six, &address.storage, sizeof six);
  return IN6_IS_ADDR_LINKLOCAL(&six.sin6_addr);
}

SocketAddress without_port(SocketAddress address) {
  if (address.storage.ss_family == AF_INET6) {
    reinterpret_cast<sockaddr_in6*>(&address.storage)->sin6_port = 0;
  } else {
    reinterpret_cast<sockaddr_in*>(&address.storage)->sin_port = 0;
  }
  return address;
}

Error no_interface(const std::string& name, const std::string& why) {
  return {ErrorCode::kBadInput, "use interface '" + name + "'", why};
}

std::string listed(const std::set<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Result<Source> Source::of_interface(const std::string& name) {
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return error_from_errno("list network interfaces", errno);
  const std::unique_ptr<ifaddrs, IfaddrsFree> owner(list);
  Source source;
  source.interface_ = name;
  std::set<std::string> names;
  bool found = false, up = false;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    names.insert(entry->ifa_name);
    if (name != entry->ifa_name) continue;
    found = true;
    up |= (entry->ifa_flags & IFF_UP) != 0;
    if (entry->ifa_addr == nullptr) continue;
    const int family = entry->ifa_addr->sa_family;
    if (family != AF_INET && family != AF_INET6) continue;
    const socklen_t bytes = family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
    source.addresses_.push_back({SocketAddress::from(entry->ifa_addr, bytes),
                                 family == AF_INET && (entry->ifa_flags & IFF_LOOPBACK) != 0});
  }
  if (!found)
    return no_interface(name, "this machine has none of that name; it has " + listed(names));
  if (!up) return no_interface(name, "it is down; bring it up first (ip link set " + name + " up)");
  if (source.addresses_.empty()) {
    return no_interface(name, "it has no IP address; give it one, or name another interface");
  }
  std::stable_partition(source.addresses_.begin(), source.addresses_.end(),
                        [](const auto& own) { return !is_link_local(own.address); });
  return source;
}

bool Source::has(const SocketAddress& address) const {
  return std::any_of(addresses_.begin(), addresses_.end(), [&](const InterfaceAddress& own) {
    if (own.address.storage.ss_family != address.storage.ss_family) return false;
    const std::string own_bytes = ip_bytes(own.address), bytes = ip_bytes(address);
    return own.whole_net ? own_bytes[0] == bytes[0] : own_bytes == bytes;
  });
}

Status Source::narrow_to(const SocketAddress& address) {
  if (is_any(address)) return Done{};
  if (!interface_.empty() && !has(address)) {
    std::set<std::string> own;
    for (const InterfaceAddress& entry : addresses_) own.insert(entry.address.ip());
    return no_interface(interface_, "the address to listen on, " + address.ip() +
                                        ", is not one of its; those are " + listed(own));
  }
  only_ = without_port(address);
  return Done{};
}

std::optional<SocketAddress> Source::first_address() const {
  if (addresses_.empty()) return std::nullopt;
  return addresses_.front().address;
}

bool Source::bind(int fd, int family) const {
  const SocketAddress* from = only_ ? &*only_ : nullptr;
  if (!interface_.empty() && !bind_to_interface(fd, interface_) && from == nullptr) {
    const auto own = std::find_if(addresses_.begin(), addresses_.end(), [&](const auto& entry) {
      return entry.address.storage.ss_family == family;
    });
    if (own == addresses_.end()) return errno = EADDRNOTAVAIL, false;
    from = &own->address;
  }
  if (from == nullptr) return true;
  if (from->storage.ss_family != family) return errno = EADDRNOTAVAIL, false;
  // The port is chosen when the destination is known, so that one port can serve many connections.
  const int on = 1;
  (void)::setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
  return ::bind(fd, from->get(), from->bytes) == 0;
}

bool bind_to_interface(int fd, const std::string& name) {
  return ::setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, name.c_str(),
                      static_cast<socklen_t>(name.size())) == 0;
}

}  // namespace firn::proto::transport
