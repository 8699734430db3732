#include "client/app/origin/proxy_choice.h"

#include <algorithm>
#include <string_view>

#include "proto/base/address_range.h"
#include "proto/base/plain_text.h"

namespace firn::app {
namespace {

std::string value_of(const Environment& environment, const char* name, const char* other) {
  std::string value = environment(name);
  return value.empty() ? environment(other) : value;
}

// A dot in front of a name or behind it says nothing.
std::string_view without_dots(std::string_view name) {
  if (name.starts_with('.')) name.remove_prefix(1);
  if (name.ends_with('.')) name.remove_suffix(1);
  return name;
}

// `host` in small letters, an IPv6 address without brackets.
bool is_excepted(std::string_view host, std::string_view entry) {
  if (const auto range = AddressRange::parse(entry)) return range->contains(std::string(host));
  const std::string name = lower_case(without_dots(entry));
  host = without_dots(host);
  if (name.empty() || !host.ends_with(name)) return false;
  return host.size() == name.size() || host[host.size() - name.size() - 1] == '.';
}

}  // namespace

std::string proxy_for(const OriginUrl& url, const Environment& environment) {
  // HTTP_PROXY is what a CGI program gets for a request's header "Proxy".
  std::string proxy = url.scheme() == OriginUrl::Scheme::kHttp
                          ? environment("http_proxy")
                          : value_of(environment, "https_proxy", "HTTPS_PROXY");
  if (proxy.empty()) proxy = value_of(environment, "all_proxy", "ALL_PROXY");
  if (proxy.empty()) return proxy;

  std::string_view host = url.host();
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  const std::string list = value_of(environment, "no_proxy", "NO_PROXY");
  if (list == "*") return "";
  std::string_view left = list;
  while (!left.empty()) {
    const std::size_t end = std::min(left.find_first_of(", \t"), left.size());
    if (is_excepted(host, left.substr(0, end))) return "";
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return proxy;
}

}  // namespace firn::app
