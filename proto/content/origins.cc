#include "proto/content/origins.h"

#include <algorithm>
#include <array>

#include "proto/base/address.h"
#include "proto/base/limits.h"
#include "proto/base/plain_text.h"

namespace firn {
namespace {

// RFC 3986, section 2, without "'", which means something to a shell, and '#'.
bool is_url_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._~:/?[]@!$&()*+,;=%").find(c) != std::string_view::npos;
}

// The length of "SCHEME://"; 0 if the URL begins with another.
std::size_t scheme_bytes(std::string_view url) {
  static constexpr std::array<std::string_view, 3> kSchemes = {"http://", "https://", "s3://"};
  for (const std::string_view scheme : kSchemes)
    if (lower_case(url.substr(0, scheme.size())) == scheme) return scheme.size();
  return 0;
}

// What is wrong; "" if nothing.
std::string_view origin_fault(std::string_view url) {
  if (url.size() > limits::kOriginBytesMax) return "it is too long";
  if (!std::ranges::all_of(url, is_url_character))
    return "it has a space, a quotation mark, '#' or another character that must be encoded";
  const std::size_t scheme = scheme_bytes(url);
  if (scheme == 0) return "it does not begin with http://, https:// or s3://";
  const std::string_view host = url.substr(scheme, url.find_first_of("/?", scheme) - scheme);
  if (host.find('@') != std::string_view::npos)
    return "it has a user name or password, which everybody would see";
  const auto address = parse_address(host, 443);
  if (!address.ok() || !is_destination(*address)) return "its host or port is missing or malformed";
  return "";
}

}  // namespace

Status check_origin_text(std::string_view url) {
  if (const auto fault = origin_fault(url); !fault.empty())
    return Error{ErrorCode::kBadInput, "use the URL of an origin", std::string(fault)};
  return Done{};
}

std::string origins_message(const ContentId& content, const std::vector<std::string>& urls) {
  std::string message = "firn origins v1";
  message.append(content.raw());
  for (const std::string& url : urls) {
    for (int shift = 24; shift >= 0; shift -= 8)
      message += static_cast<char>(url.size() >> shift & 0xff);
    message.append(url);
  }
  return message;
}

}  // namespace firn
