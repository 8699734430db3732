#include "proto/content/link.h"

#include <algorithm>
#include <optional>

#include "proto/base/limits.h"
#include "proto/base/percent.h"
#include "proto/base/plain_text.h"
#include "proto/base/public_key.h"

namespace firn {
namespace {

constexpr std::string_view kScheme = "firn:";
constexpr std::size_t kLinkBytesMax = 64 << 10;
constexpr std::size_t kIdTextBytes = 52;

// A link for an error's text, without what may be a secret: whatever stands where one should.
std::string shown(std::string_view text) {
  const std::size_t question = std::min(text.find('?'), text.size());
  const std::size_t id_end = kScheme.size() + kIdTextBytes;
  if (!looks_like_link(text) || question <= id_end) return to_plain_text(text, 200);
  return to_plain_text(
      std::string(text.substr(0, id_end)).append("...").append(text.substr(question)), 200);
}

Error bad_link(std::string_view text, const std::string& why) {
  return {ErrorCode::kBadInput, "read the link '" + shown(text) + "'",
          why +
              "; the right form is firn:CONTENT_ID?tr=HOST:PORT&peer=HOST:PORT, "
              "where CONTENT_ID has 52 characters a-z and 2-7"};
}

// What stands unencoded in a parameter beside unreserved characters: of those that queries allow,
// the ones that addresses have.
constexpr std::string_view kOfAddresses = ":@";

std::string take_publisher(std::string_view text, Link& link) {
  const auto key = public_key_from_text(text);
  if (!key)
    return "the publisher '" + to_plain_text(text, 100) +
           "' is no key of 52 characters a-z and 2-7";
  if (link.publisher && link.publisher != key) return "it names two publishers";
  link.publisher = key;
  return "";
}

// What stands between "firn:" and the parameters. Returns what is wrong, or "".
std::string take_name(std::string_view name, Link& link) {
  const std::size_t point = std::min(name.find('.'), name.size());
  const auto id = ContentId::from_text(name.substr(0, point));
  if (!id) return "what follows 'firn:' is no content id";
  link.content_id = *id;
  if (point == name.size()) return "";
  link.secret = ContentSecret::from_text(name.substr(point + 1), *id);
  return link.secret ? "" : "it is of a private content, and damaged: copy the whole link again";
}

// One parameter, "name=value" still encoded, into `link`. Returns what is wrong, or "".
std::string take_parameter(std::string_view parameter, Link& link) {
  const std::size_t equals = std::min(parameter.find('='), parameter.size());
  const auto name = percent_decode(parameter.substr(0, equals));
  const auto value = percent_decode(parameter.substr(std::min(equals + 1, parameter.size())));
  if (!name || !value) return "a '%' is not followed by two hexadecimal digits";
  if (*name == "pub") return take_publisher(*value, link);
  if (*name != "tr" && *name != "peer") return "";

  auto& list = *name == "tr" ? link.trackers : link.peers;
  const std::size_t most = *name == "tr" ? limits::kTrackerCountMax : limits::kPeerExchangeMax;
  if (list.size() == most) return "there are more than " + std::to_string(most) + " of " + *name;
  Result<Address> address = parse_address(*value, kDefaultPort);
  if (!address.ok()) return address.error().message();
  if (!is_destination(*address)) return "the address '" + *value + "' has no host or no port";
  list.push_back(*std::move(address));
  return "";
}

}  // namespace

bool looks_like_link(std::string_view text) {
  return text.size() >= kScheme.size() &&
         std::ranges::equal(text.substr(0, kScheme.size()), kScheme, [](char a, char b) {
           return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
         });
}

Result<Link> parse_link(std::string_view text) {
  if (!looks_like_link(text)) return bad_link(text, "it does not begin with 'firn:'");
  if (text.size() > kLinkBytesMax) return bad_link(text, "it is too long");
  // A fragment names a place within a resource (RFC 3986, section 3.5); we have none.
  const std::string_view whole = text.substr(0, text.find('#'));
  const std::size_t question = std::min(whole.find('?'), whole.size());

  Link link;
  // Ids and secrets need no percent signs, and a secret that is written with some would not be
  // found where it is to be hidden (without_secrets).
  const std::string fault =
      take_name(whole.substr(kScheme.size(), question - kScheme.size()), link);
  if (!fault.empty()) return bad_link(text, fault);

  std::string_view query = whole.substr(std::min(question + 1, whole.size()));
  while (!query.empty()) {
    const std::size_t end = std::min(query.find('&'), query.size());
    const std::string wrong = take_parameter(query.substr(0, end), link);
    if (!wrong.empty()) return bad_link(text, wrong);
    query.remove_prefix(std::min(end + 1, query.size()));
  }
  return link;
}

std::string to_text(const Link& link) {
  std::string text = std::string(kScheme) + link.content_id.text();
  if (link.secret) text.append(".").append(link.secret->text(link.content_id));
  char separator = '?';
  const auto append = [&](std::string_view name, std::string_view value) {
    text += separator;
    text.append(name) += '=';
    text += percent_encode(value, kOfAddresses);
    separator = '&';
  };
  for (const Address& tracker : link.trackers) append("tr", to_text(tracker));
  for (const Address& peer : link.peers) append("peer", to_text(peer));
  if (link.publisher) append("pub", link.publisher->text());
  return text;
}

}  // namespace firn
