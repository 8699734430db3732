#include "client/app/origin/origin_access.h"

#include <algorithm>
#include <array>
#include <utility>

#include "proto/base/percent.h"
#include "proto/base/plain_text.h"

namespace firn::app {
namespace {

constexpr std::string_view kLettersAndDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t kRegionBytesMax = 64;
constexpr std::string_view kDefaultRegion = "us-east-1";

bool is_token(std::string_view name) {  // RFC 9110, section 5.6.2
  return !name.empty() && name.find_first_not_of(std::string(kLettersAndDigits) +
                                                 "!#$%&'*+-.^_`|~") == std::string_view::npos;
}

bool is_set_by_requests(std::string_view name) {  // in small letters
  static constexpr std::array<std::string_view, 9> kNames = {
      "range", "accept-encoding", "connection", "content-length",      "transfer-encoding",
      "te",    "expect",          "upgrade",    "x-amz-content-sha256"};
  return name.starts_with("if-") || std::ranges::find(kNames, name) != kNames.end();
}

// Without a '/' at its end, and with a host alone in front of it.
Result<std::string> s3_server(const OriginUrl& bucket, const OriginAccess& access) {
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::kBadInput, "fetch from " + bucket.shown(), why};
  };
  const std::string region = s3_region(access);
  if (region.size() > kRegionBytesMax ||
      region.find_first_not_of(std::string(kLettersAndDigits) + "-") != std::string::npos)
    return refuse("its region is no name such as eu-central-1");
  if (!access.endpoint.empty()) {
    const auto endpoint = parse_origin(access.endpoint);
    if (!endpoint) return refuse("its endpoint: " + endpoint.error().detail);
    if (endpoint->scheme() == OriginUrl::Scheme::kS3 || !endpoint->user().empty() ||
        endpoint->text().find('?') != std::string::npos)
      return refuse("its endpoint must be http://HOST or https://HOST, without user and query");
    std::string server = endpoint->text();
    while (server.ends_with('/')) server.pop_back();
    return server + "/" + bucket.host();
  }
  const std::string amazon =
      "s3." + region + ".amazonaws.com" + (region.starts_with("cn-") ? ".cn" : "");
  // A host's name has no capitals and no '_', and Amazon's certificates cover one label before
  // "s3.".
  const bool is_label =
      bucket.host().find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-") == std::string::npos;
  return is_label ? "https://" + bucket.host() + "." + amazon
                  : "https://" + amazon + "/" + bucket.host();
}

}  // namespace

Status check_header(std::string_view header) {
  const std::size_t colon = std::min(header.find(':'), header.size());
  const std::string_view name = header.substr(0, colon);
  const auto refuse = [&](const std::string& why) {
    return Error{ErrorCode::kBadInput, "send the header '" + to_plain_text(name, 64) + "'", why};
  };
  if (colon == header.size() || !is_token(name)) return refuse("a header is written 'NAME: VALUE'");
  if (!is_plain_text(header)) return refuse("it is not UTF-8 or has control characters");
  if (is_set_by_requests(lower_case(name)))
    return refuse("firn sets this one itself; leave it out");
  return Done{};
}

std::string s3_region(const OriginAccess& access) {
  return access.region.empty() ? std::string(kDefaultRegion) : access.region;
}

Status add_aws_settings(OriginAccess& access) {
  auto aws = read_aws_settings();
  if (!aws.ok()) return aws.error();
  access.aws = std::move(aws->keys);
  if (access.endpoint.empty()) access.endpoint = std::move(aws->endpoint);
  if (access.region.empty()) access.region = std::move(aws->region);
  return Done{};
}

Result<OriginUrl> request_url(const OriginUrl& url, const OriginAccess& access) {
  if (url.scheme() != OriginUrl::Scheme::kS3) return url;
  const auto server = s3_server(url, access);
  if (!server) return server.error();
  // What is signed is the path with all but unreserved characters encoded.
  const std::string text = url.text();
  const std::size_t query = text.find('?');
  return parse_origin(*server +
                      percent_encode(percent_decode(url.path()).value_or(url.path()), "/") +
                      (query == std::string::npos ? "" : text.substr(query)));
}

}  // namespace firn::app
