#include "proto/web/access.h"

#include <arpa/inet.h>

#include <algorithm>
#include <string_view>

#include "proto/base/plain_text.h"
#include "proto/web/token.h"

namespace firn::web {
namespace {

constexpr const char* kCookieTerms = "; Path=/; HttpOnly; SameSite=Strict";

bool is_numeric(const std::string& host) {
  in_addr four{};
  in6_addr six{};
  return ::inet_pton(AF_INET, host.c_str(), &four) == 1 ||
         ::inet_pton(AF_INET6, host.c_str(), &six) == 1;
}

}  // namespace

// What stands behind the host is a port and nothing else.
std::string host_of(const std::string& header) {
  const bool brackets = header.starts_with('[');
  const std::size_t end = header.find(brackets ? ']' : ':');
  if (brackets && end == std::string::npos) return "";
  const std::string_view rest =
      std::string_view(header).substr(std::min(end, header.size()) + (brackets ? 1 : 0));
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (!rest.empty() && !(rest.front() == ':' && std::ranges::all_of(rest.substr(1), is_digit)))
    return "";
  return brackets ? header.substr(1, end - 1) : lower_case(header.substr(0, end));
}

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// The port: browsers send a host's cookies to all its ports.
Access::Access(std::string token, const Address& listening, std::string read_token)
    : token_(std::move(token)),
      read_token_(std::move(read_token)),
      host_(lower_case(listening.host)),
      cookie_name_("firn_" + std::to_string(listening.port)),
      cookie_(derived_secret(token_, "cookie " + fresh_token())) {}

bool Access::names_us(const std::string& host) const {
  const std::string name = host_of(host);
  return name == "localhost" || is_numeric(name) || (!host_.empty() && name == host_);
}

bool Access::meant_for_us(const Request& request) const {
  if (!names_us(request.host)) return false;
  if (request.origin.empty()) return true;
  const std::string origin = lower_case(request.origin), host = lower_case(request.host);
  return origin == "http://" + host || origin == "https://" + host;
}

bool Access::is_token(const std::string& text) const {
  return same_secret(text, token_);
}

bool Access::has_cookie(const Request& request) const {
  std::string_view rest = request.cookie;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find(';'), rest.size());
    const std::string_view pair = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    while (rest.starts_with(' ')) rest.remove_prefix(1);
    if (pair.starts_with(cookie_name_ + "=") &&
        same_secret(pair.substr(cookie_name_.size() + 1), cookie_))
      return true;
  }
  return false;
}

Access::Verdict Access::judge(const Request& request) const {
  if (!meant_for_us(request)) return Verdict::kForeign;
  if (!request.authorization.empty()) {
    constexpr std::string_view kScheme = "bearer ";
    const std::string scheme = lower_case(request.authorization.substr(0, kScheme.size()));
    if (scheme != kScheme) return Verdict::kWrongToken;
    const std::string shown = request.authorization.substr(kScheme.size());
    if (is_token(shown)) return Verdict::kAllowed;
    const bool reads = !read_token_.empty() && same_secret(shown, read_token_);
    return reads ? Verdict::kReader : Verdict::kWrongToken;
  }
  if (!has_cookie(request)) return Verdict::kNoToken;
  // A browser names the origin of what it posts; what else has the cookie can be made to say so.
  if (request.method == Method::kPost && request.origin.empty()) return Verdict::kForeign;
  return Verdict::kAllowed;
}

std::string Access::set_cookie() const {
  return cookie_name_ + "=" + cookie_ + kCookieTerms;
}

std::string Access::forget_cookie() const {
  return cookie_name_ + "=" + kCookieTerms + "; Max-Age=0";
}

}  // namespace firn::web
