#include "proto/base/address.h"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

#include "proto/base/limits.h"
#include "proto/base/plain_text.h"

namespace firn {
namespace {

constexpr std::size_t kHostNameBytesMax = 253;  // RFC 1035, section 2.3.4, written with dots

Error bad_address(std::string_view text, const std::string& why) {
  return {ErrorCode::kBadInput,
          "read the address '" + to_plain_text(text, limits::kAddressBytesMax) + "'",
          why + "; write [ID@]HOST:PORT, as in example.org:7000 or [2001:db8::1]:7000"};
}

bool is_zone_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

// An IPv6 address, with a zone (RFC 4007) or without: fe80::1%eth0.
bool is_ipv6(std::string_view host) {
  const std::size_t percent = host.find('%');
  if (percent != std::string_view::npos) {
    const std::string_view zone = host.substr(percent + 1);
    if (zone.empty() || zone.size() > 32 || !std::ranges::all_of(zone, is_zone_character))
      return false;
  }
  // inet_pton would stop at a zero byte and never see what follows it.
  const std::string numeric(host.substr(0, percent));
  in6_addr parsed{};
  return numeric.find('\0') == std::string::npos &&
         inet_pton(AF_INET6, numeric.c_str(), &parsed) == 1;
}

// A host name or IPv4 address; "" and "*" stand for every address of this machine.
bool is_name(std::string_view host) {
  if (host.empty() || host == "*") return true;
  return host.size() <= kHostNameBytesMax && host.front() != '.' && host.front() != '-' &&
         std::ranges::all_of(host, is_zone_character) && host.find("..") == std::string_view::npos;
}

std::optional<std::uint16_t> parse_port(std::string_view text) {
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return port;
}

}  // namespace

Result<Address> parse_address(std::string_view text, std::optional<std::uint16_t> default_port) {
  if (text.size() > limits::kAddressBytesMax) return bad_address(text, "it is too long");
  Address address;
  std::string_view rest = text;
  if (const std::size_t at = rest.find('@'); at != std::string_view::npos) {
    address.id = PeerId::from_text(rest.substr(0, at));
    if (!address.id)
      return bad_address(text, "the ID before '@' is not 52 characters of base32 (a-z, 2-7)");
    rest.remove_prefix(at + 1);
  }

  std::size_t colon = rest.rfind(':');
  const bool without_port = colon == std::string_view::npos || rest.ends_with(']');
  if (without_port) {
    if (!default_port) return bad_address(text, "the port is missing");
    if (rest.empty()) return bad_address(text, "the host is missing");
    colon = rest.size();
    address.port = *default_port;
  } else {
    const auto port = parse_port(rest.substr(colon + 1));
    if (!port) return bad_address(text, "the port is not a number from 0 to 65535");
    address.port = *port;
  }

  std::string_view host = rest.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']') && host.size() > 2) {
    host = host.substr(1, host.size() - 2);
    if (!is_ipv6(host)) return bad_address(text, "there is no IPv6 address in the brackets");
  } else if (host.find(':') != std::string_view::npos) {
    return bad_address(text, "an IPv6 address needs brackets");
  } else if (!is_name(host)) {
    return bad_address(text, "the host is neither a name (letters, digits, '-', '.') nor numeric");
  }
  address.host = host;
  return address;
}

std::string to_text(const Address& address) {
  std::string text = address.id ? address.id->text() + "@" : "";
  const bool brackets = address.host.find(':') != std::string::npos;
  text += brackets ? "[" + address.host + "]" : address.host;
  return text + ":" + std::to_string(address.port);
}

bool is_destination(const Address& address) {
  return address.port != 0 && !address.host.empty() && address.host != "*";
}

std::string network_of(const std::string& ip) {
  in6_addr address;
  if (::inet_pton(AF_INET6, ip.c_str(), &address) != 1) return ip;
  return {reinterpret_cast<const char*>(address.s6_addr), 8};
}

std::string prefix_of(const std::string& ip) {
  in6_addr six;
  if (::inet_pton(AF_INET6, ip.c_str(), &six) == 1)
    return {reinterpret_cast<const char*>(six.s6_addr), 6};
  in_addr four;
  if (::inet_pton(AF_INET, ip.c_str(), &four) == 1)
    return {reinterpret_cast<const char*>(&four.s_addr), 3};
  return ip;
}

}  // namespace firn
