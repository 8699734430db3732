#include "proto/content/origin_url.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <vector>

#include "proto/base/address_kind.h"
#include "proto/base/limits.h"
#include "proto/base/percent.h"
#include "proto/base/plain_text.h"
#include "proto/content/manifest.h"

namespace firn {
namespace {

constexpr std::size_t kHostBytesMax = 253;  // of a name in DNS (RFC 1035)
// Characters of path and query besides letters and digits (RFC 3986, section 3.3 and 3.4).
constexpr std::string_view kPathCharacters = "-._~!$&'()*+,;=:@/";
constexpr std::string_view kQueryCharacters = "-._~!$&'()*+,;=:@/?";

constexpr std::string_view kUserCharacters = "-._~!$&'()*+,;=:@%";

struct SchemeFacts {
  OriginUrl::Scheme scheme;
  std::string_view prefix;
  std::uint16_t port;
};
constexpr std::array<SchemeFacts, 3> kSchemes = {{
    {OriginUrl::Scheme::kHttp, "http://", 80},
    {OriginUrl::Scheme::kHttps, "https://", 443},
    {OriginUrl::Scheme::kS3, "s3://", 0},
}};

const SchemeFacts& facts(OriginUrl::Scheme scheme) {
  return kSchemes[static_cast<std::size_t>(scheme)];
}

bool is_letter_or_digit(char c) {
  return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

bool consists_of(std::string_view text, std::string_view others) {
  return std::ranges::all_of(text, [&](char c) {
    return is_letter_or_digit(c) || others.find(c) != std::string_view::npos;
  });
}

// What no URL may hold is encoded; "%41" stays as it is. nullopt: '%' without two digits.
std::optional<std::string> normal_part(std::string_view text, std::string_view characters) {
  if (!percent_decode(text)) return std::nullopt;
  return percent_encode(text, std::string(characters) + '%');
}

// An IPv6 address in brackets, without a zone; getaddrinfo judges its digits.
bool is_ipv6_literal(std::string_view host) {
  return host.size() > 3 && host.front() == '[' && host.back() == ']' &&
         host.substr(1, host.size() - 2).find_first_not_of("0123456789abcdefABCDEF:.") ==
             std::string_view::npos;
}

// Names of query parameters, in small letters, that hold what nobody else may know.
bool is_secret_name(std::string_view name) {
  static constexpr std::string_view kWithin[] = {"signature",  "token", "secret",     "password",
                                                 "credential", "auth",  "access_key", "session"};
  static constexpr std::string_view kWhole[] = {
      "sig",  "key",   "apikey", "api_key", "api-key", "policy", "md5", "hmac", "verify",
      "hash", "hdnts", "hdnea",  "pass",    "passwd",  "pwd",    "jwt", "sid",  "code"};
  return std::ranges::find(kWhole, name) != std::ranges::end(kWhole) ||
         std::ranges::any_of(kWithin, [&](std::string_view part) {
           return name.find(part) != std::string_view::npos;
         });
}

// The names of a query's parameters. One without a value has none: it may be a token, which in
// base64 ends with '='.
std::vector<std::string_view> parameter_names(std::string_view query) {
  std::vector<std::string_view> names;
  while (!query.empty()) {
    const std::string_view parameter = query.substr(0, query.find('&'));
    const std::size_t equals = std::min(parameter.find('='), parameter.size());
    const bool has_value = parameter.find_first_not_of('=', equals) != std::string_view::npos;
    names.push_back(parameter.substr(0, has_value ? equals : 0));
    query.remove_prefix(std::min(parameter.size() + 1, query.size()));
  }
  return names;
}

Error refused(std::string detail) {
  return {ErrorCode::kBadInput, "use the URL of an origin", std::move(detail)};
}

}  // namespace

std::string OriginUrl::with_query(const std::string& query) const {
  std::string text = std::string(facts(scheme_).prefix) + host_;
  if (port_ != facts(scheme_).port) text += ":" + std::to_string(port_);
  text += path_;
  return query.empty() ? text : text + "?" + query;
}

std::string OriginUrl::text() const {
  return with_query(query_);
}

std::string OriginUrl::shown() const {
  return with_query(shown_query(query_));
}

bool OriginUrl::has_secrets() const {
  return !user_.empty() || !password_.empty() ||
         std::ranges::any_of(parameter_names(query_), [](std::string_view name) {
           return is_secret_name(lower_case(percent_decode(name).value_or(std::string(name))));
         });
}

bool OriginUrl::may_hold_secrets() const {
  return !user_.empty() || !password_.empty() || !query_.empty();
}

bool OriginUrl::is_by_hand_only() const {
  const bool in_brackets = host_.starts_with('[');
  return scheme_ != Scheme::kS3 &&
         (host_ == "localhost" || address_kind(in_brackets ? host_.substr(1, host_.size() - 2)
                                                           : host_) != AddressKind::kGlobal);
}

OriginUrl OriginUrl::file(std::string_view path) const {
  FIRN_CHECK(is_folder());
  OriginUrl url = *this;
  url.path_ += percent_encode(path, "/");
  return url;
}

Result<std::string> OriginUrl::name() const {
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::kBadInput, "name the file of " + shown(), why + "; add --as NAME"};
  };
  if (is_folder()) return refuse("its path ends in '/'");
  const auto name = percent_decode(std::string_view(path_).substr(path_.rfind('/') + 1));
  if (!name || name->find('/') != std::string::npos) return refuse("it holds an encoded '/'");
  if (const Status safe = check_content_path(*name); !safe) return refuse(safe.error().detail);
  return *name;
}

bool OriginUrl::same_host(const OriginUrl& other) const {
  return scheme_ == other.scheme_ && host_ == other.host_ && port_ == other.port_;
}

Result<OriginUrl> parse_origin(std::string_view text) {
  if (text.size() > limits::kOriginBytesMax)
    return refused("it has more than " + std::to_string(limits::kOriginBytesMax) + " bytes");
  if (!is_plain_text(text)) return refused("it is not UTF-8 or has control characters");
  text = text.substr(0, text.find('#'));
  OriginUrl url;
  const std::size_t scheme_end = text.find("://");
  const std::string prefix =
      scheme_end == std::string_view::npos ? "" : lower_case(text.substr(0, scheme_end)) + "://";
  const auto scheme = std::ranges::find(kSchemes, prefix, &SchemeFacts::prefix);
  if (scheme == kSchemes.end()) return refused("it begins with none of https://, http://, s3://");
  url.scheme_ = scheme->scheme;
  text.remove_prefix(prefix.size());
  const bool is_s3 = url.scheme_ == OriginUrl::Scheme::kS3;

  const std::size_t authority_end = std::min(text.find_first_of("/?"), text.size());
  std::string_view authority = text.substr(0, authority_end);
  text.remove_prefix(authority_end);
  if (const std::size_t at = authority.rfind('@'); at != std::string_view::npos) {
    if (is_s3) return refused("s3:// takes no user; keys come from the environment or ~/.aws");
    const std::string_view info = authority.substr(0, at);
    // Some readers take a backslash for '/', and then another part for the host.
    if (!consists_of(info, kUserCharacters))
      return refused("its user or password has characters that must be percent-encoded");
    const std::size_t colon = std::min(info.find(':'), info.size());
    const auto user = percent_decode(info.substr(0, colon));
    const auto password = percent_decode(info.substr(std::min(colon + 1, info.size())));
    if (!user || !password) return refused("its user or password has '%' without two digits");
    if (user->empty() && password->empty()) return refused("its '@' has no user name before it");
    if (!is_plain_text(*user) || !is_plain_text(*password) || user->find(':') != std::string::npos)
      return refused("its user or password has characters that cannot be sent");
    url.user_ = *user;
    url.password_ = *password;
    authority.remove_prefix(at + 1);
  }
  // A colon within an IPv6 address is none of a port.
  const std::size_t bracket = authority.rfind(']');
  const std::size_t colon = authority.find(':', bracket == std::string_view::npos ? 0 : bracket);
  std::string_view host = authority.substr(0, colon);
  url.port_ = scheme->port;
  if (colon != std::string_view::npos) {
    const std::string_view digits = authority.substr(colon + 1);
    unsigned port = 0;
    const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (fault != std::errc() || end != digits.data() + digits.size() || port < 1 || port > 65535 ||
        is_s3)
      return refused("it has no port of 1 to 65535 behind its host's colon");
    url.port_ = static_cast<std::uint16_t>(port);
  }
  if (host.empty()) return refused(is_s3 ? "it names no bucket" : "it names no host");
  const bool is_name = host.size() <= kHostBytesMax && consists_of(host, "-._");
  if (!is_name && (is_s3 || !is_ipv6_literal(host)))
    return refused("its host is no name of letters, digits, '-', '.' and '_'" +
                   std::string(is_s3 ? "" : " (of others, write the form xn--...), no address"));
  url.host_ = is_s3 ? std::string(host) : lower_case(host);

  const std::size_t question = std::min(text.find('?'), text.size());
  const auto path = normal_part(text.substr(0, question), kPathCharacters);
  const auto query =
      normal_part(text.substr(std::min(question + 1, text.size())), kQueryCharacters);
  if (!path || !query)
    return refused(
        "it has '%' without two hexadecimal digits behind it; URLs are percent-encoded: write %25 "
        "for '%'");
  if (!path->empty()) url.path_ = *path;
  url.query_ = *query;
  if (url.text().size() > limits::kOriginBytesMax)
    return refused("encoded, it has more than " + std::to_string(limits::kOriginBytesMax) +
                   " bytes");
  return url;
}

Status check_origin_text(std::string_view url) {
  if (!consists_of(url, std::string(kQueryCharacters) + "[]%") ||
      url.find('\'') != std::string_view::npos)
    return refused(
        "it has a space, a quotation mark, '#' or another character that must be encoded");
  const auto origin = parse_origin(url);
  if (!origin) return origin.error();
  if (!origin->user().empty() || !origin->password().empty())
    return refused("it has a user name or password, which everybody would see");
  return Done{};
}

std::string shown_query(std::string_view query) {
  std::string shown;
  for (const std::string_view name : parameter_names(query)) {
    if (!shown.empty()) shown += "&";
    shown += name.empty() ? "..." : std::string(name) + "=...";
  }
  return shown;
}

}  // namespace firn
