// A link is enough to start a download: `firn:ID/pub=KEY/tr=ADDR/peer=ADDR/ws=URL`, with any number
// of trackers, peers and origins. URL is in base64url (RFC 4648, section 5) without padding. No
// character in it means anything to a shell. ADDR is [ID@]HOST:PORT; an IPv6 HOST has no brackets,
// so its port is always written, and '+' before its zone. Parts with an unknown name are ignored.
// Older links, `firn:ID?tr=ADDR&peer=ADDR&pub=KEY`, are read too, alone or behind parts of the new
// form: there ADDR is written as in options, percent-encoded as in RFC 3986. The link of a private
// content has a point and the content's secret behind the id, where a program that does not know
// private contents stops: as a part it would be ignored, and the content asked for in the open.
// Programs that know only the older links stop at the first '/' in the same way.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/address.h"
#include "proto/base/ids.h"
#include "proto/base/result.h"
#include "proto/content/content_secret.h"

namespace firn {

// A file that holds links, one a line.
inline constexpr const char* kLinkFileSuffix = ".link";
inline constexpr std::size_t kLinkFileBytesMax = 64 << 10;

struct Link {
  ContentId content_id;
  std::vector<Address> trackers;
  std::vector<Address> peers;
  std::optional<PublicKey> publisher;        // must have published the content (check_published_by)
  std::optional<ContentSecret> secret = {};  // of a private content
  std::vector<std::string> origins = {};     // URLs that check_origin_text takes
};

// True if `text` means to be a link (starts with "firn:", behind white space or not), well-formed
// or not.
bool looks_like_link(std::string_view text);
// White space around it, and a '/' at its end, are ignored. Errors: kBadInput with what is wrong
// and the right form; no error repeats a secret or an origin, which may hold a password.
Result<Link> parse_link(std::string_view text);
// In the form with '/': of letters, digits and "-._:@+=/" alone.
std::string to_text(const Link& link);

}  // namespace firn
