#include "proto/content/link.h"

#include <algorithm>
#include <optional>

#include "proto/base/base64url.h"
#include "proto/base/limits.h"
#include "proto/base/percent.h"
#include "proto/base/plain_text.h"
#include "proto/base/public_key.h"
#include "proto/content/origin_url.h"

namespace firn {
namespace {

constexpr std::string_view kScheme = "firn:";
constexpr std::size_t kLinkBytesMax = 64 << 10;
constexpr std::size_t kIdTextBytes = 52;
constexpr std::string_view kSpaces = " \t\r\n";

std::string_view without_spaces_around(std::string_view text) {
  const std::size_t begin = std::min(text.find_first_not_of(kSpaces), text.size());
  return text.substr(begin, text.find_last_not_of(kSpaces) + 1 - begin);
}

// "/NAME=..." or "?NAME=...".
bool begins_part(std::string_view text) {
  if (text[0] != '/' && text[0] != '?') return false;
  const std::size_t end = text.find_first_of("=/?.&", 1);
  return end != std::string_view::npos && text[end] == '=';
}

// An origin may hold a password. Writers put origins last.
std::string without_origins(std::string_view text) {
  const std::string low = lower_case(text);
  const std::size_t at = std::min({low.find("/ws="), low.find("?ws="), low.find("&ws=")});
  if (at == std::string::npos) return std::string(text);
  return std::string(text.substr(0, at + 4)) + "...";
}

// A link for an error's text, without what may be a secret: whatever stands where one should.
std::string shown(std::string_view given) {
  const std::string text = without_origins(given);
  if (!looks_like_link(text)) return to_plain_text(without_secrets(text), 200);
  const std::size_t id_end = std::min(
      {text.size(), kScheme.size() + kIdTextBytes, text.find_first_of("./?", kScheme.size())});
  std::size_t rest = id_end;
  while (rest < text.size() && !begins_part(std::string_view(text).substr(rest))) ++rest;
  return to_plain_text(
      text.substr(0, id_end).append(rest > id_end ? "..." : "").append(text.substr(rest)), 200);
}

Error bad_link(std::string_view text, const std::string& why) {
  return {ErrorCode::kBadInput, "read the link '" + shown(text) + "'",
          why +
              "; the right form is firn:CONTENT_ID/tr=HOST:PORT/peer=HOST:PORT, "
              "where CONTENT_ID has 52 characters a-z and 2-7"};
}

// Whatever the locale takes for a letter.
bool is_value_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-._:@+").find(c) != std::string_view::npos;
}

// An address without brackets. The text that options have for it has '%' where this has '+'.
std::string to_part(const Address& address) {
  std::string host = address.host;
  std::ranges::replace(host, '%', '+');
  return (address.id ? address.id->text() + "@" : "") + host + ":" + std::to_string(address.port);
}

Result<Address> parse_part_address(std::string_view text) {
  std::string usual(text);
  const std::size_t host = text.find('@') + 1;  // 0 without an id
  const std::size_t colon = text.rfind(':');
  if (text.find(':', host) < colon) {
    std::string ipv6(text.substr(host, colon - host));
    if (const std::size_t plus = ipv6.find('+'); plus != std::string::npos) ipv6[plus] = '%';
    usual = std::string(text.substr(0, host))
                .append("[")
                .append(ipv6)
                .append("]")
                .append(text.substr(colon));
  }
  Result<Address> address = parse_address(usual, kDefaultPort);
  if (address.ok()) return address;
  return Error{ErrorCode::kBadInput,
               "read the address '" + to_plain_text(text, limits::kAddressBytesMax) + "'",
               "write [ID@]HOST:PORT, in a link without brackets, as in example.org:7000 or "
               "2001:db8::1:7000"};
}

Result<Address> parse_parameter_address(std::string_view text) {
  return parse_address(text, kDefaultPort);
}

std::string take_publisher(std::string_view text, Link& link) {
  const auto key = public_key_from_text(text);
  if (!key)
    return "the publisher '" + to_plain_text(text, 100) +
           "' is no key as firn keygen prints one, of 52 characters a-z and 2-7";
  if (link.publisher && link.publisher != key) return "it names two publishers";
  link.publisher = key;
  return "";
}

std::string take_origin(std::string_view text, Link& link) {
  if (link.origins.size() == limits::kOriginCountMax)
    return "there are more than " + std::to_string(limits::kOriginCountMax) + " of ws";
  auto url = base64url_decode(text);
  if (!url) return "what follows 'ws=' is not the URL of an origin in base64url without padding";
  if (const Status right = check_origin_text(*url); !right.ok())
    return "what follows 'ws=' is not the URL of an origin: " + right.error().detail;
  link.origins.push_back(*std::move(url));
  return "";
}

// What stands between "firn:" and the first part or parameter. Returns what is wrong, or "".
std::string take_name(std::string_view name, Link& link) {
  const std::size_t point = std::min(name.find('.'), name.size());
  const auto id = ContentId::from_text(name.substr(0, point));
  if (!id) return "what follows 'firn:' is no content id";
  link.content_id = *id;
  if (point == name.size()) return "";
  link.secret = ContentSecret::from_text(name.substr(point + 1), *id);
  return link.secret ? "" : "it is of a private content, and damaged: copy the whole link again";
}

// Returns what is wrong, or "".
std::string take_value(std::string_view name, std::string_view value,
                       Result<Address> (*parse)(std::string_view), Link& link) {
  if (name == "pub") return take_publisher(value, link);
  if (name == "ws") return take_origin(value, link);
  if (name != "tr" && name != "peer") return "";
  auto& list = name == "tr" ? link.trackers : link.peers;
  const std::size_t most = name == "tr" ? limits::kTrackerCountMax : limits::kPeerExchangeMax;
  if (list.size() == most)
    return "there are more than " + std::to_string(most) + " of " + std::string(name);
  Result<Address> address = parse(value);
  if (!address.ok()) return address.error().message();
  if (!is_destination(*address))
    return "the address '" + std::string(value) + "' has no host or no port";
  list.push_back(*std::move(address));
  return "";
}

// One "NAME=VALUE" between slashes. Not repeated where it is wrong: it may be a damaged secret.
std::string take_part(std::string_view part, Link& link) {
  const std::size_t equals = std::min(part.find('='), part.size());
  const std::string_view name = part.substr(0, equals);
  const std::string_view value = part.substr(std::min(equals + 1, part.size()));
  if (name.empty() || equals == part.size() || !std::ranges::all_of(name, is_value_character) ||
      !std::ranges::all_of(value, is_value_character))
    return "a '/' is followed by something else than NAME=VALUE of letters, digits and - . _ : @ +";
  return take_value(lower_case(name), value, parse_part_address, link);
}

// One parameter of an older link, "name=value" still encoded.
std::string take_parameter(std::string_view parameter, Link& link) {
  const std::size_t equals = std::min(parameter.find('='), parameter.size());
  const auto name = percent_decode(parameter.substr(0, equals));
  const auto value = percent_decode(parameter.substr(std::min(equals + 1, parameter.size())));
  if (!name || !value) return "a '%' is not followed by two hexadecimal digits";
  return take_value(*name, *value, parse_parameter_address, link);
}

// Calls `take` with what stands between separators, until it says that something is wrong.
template <typename Take>
std::string take_each(std::string_view text, char separator, Take take, Link& link) {
  std::string wrong;
  while (wrong.empty() && !text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    wrong = take(text.substr(0, end), link);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return wrong;
}

}  // namespace

bool looks_like_link(std::string_view text) {
  return lower_case(without_spaces_around(text).substr(0, kScheme.size())) == kScheme;
}

Result<Link> parse_link(std::string_view given) {
  const std::string_view text = without_spaces_around(given);
  if (!looks_like_link(text)) return bad_link(text, "it does not begin with 'firn:'");
  if (text.size() > kLinkBytesMax) return bad_link(text, "it is too long");
  // A fragment names a place within a resource (RFC 3986, section 3.5); we have none.
  std::string_view whole = text.substr(kScheme.size(), text.find('#') - kScheme.size());
  if (whole.ends_with('/')) whole.remove_suffix(1);
  const std::size_t question = std::min(whole.find('?'), whole.size());
  const std::string_view path = whole.substr(0, question);
  const std::size_t slash = std::min(path.find('/'), path.size());
  const auto behind = [](std::string_view all, std::size_t at) {
    return all.substr(std::min(at + 1, all.size()));
  };

  Link link;
  // Ids and secrets need no percent signs, and a secret that is written with some would not be
  // found where it is to be hidden (without_secrets).
  std::string wrong = take_name(path.substr(0, slash), link);
  if (wrong.empty()) wrong = take_each(behind(path, slash), '/', take_part, link);
  if (wrong.empty()) wrong = take_each(behind(whole, question), '&', take_parameter, link);
  if (!wrong.empty()) return bad_link(text, wrong);
  return link;
}

std::string to_text(const Link& link) {
  std::string text = std::string(kScheme) + link.content_id.text();
  if (link.secret) text.append(".").append(link.secret->text(link.content_id));
  const auto append = [&](const char* name, const std::string& value) {
    text.append("/").append(name).append("=").append(value);
  };
  if (link.publisher) append("pub", link.publisher->text());
  for (const Address& tracker : link.trackers) append("tr", to_part(tracker));
  for (const Address& peer : link.peers) append("peer", to_part(peer));
  for (const std::string& origin : link.origins) append("ws", base64url_encode(origin));
  return text;
}

}  // namespace firn
