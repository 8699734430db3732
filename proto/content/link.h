// A link is enough to start a download: `firn:<base32 content id>?tr=ADDR&peer=ADDR&pub=KEY&...`,
// ADDR percent-encoded as in RFC 3986. Unknown parameters are ignored.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/address.h"
#include "proto/base/ids.h"

namespace firn {

struct Link {
  ContentId content_id;
  std::vector<Address> trackers;
  std::vector<Address> peers;
  std::optional<PublicKey> publisher;  // must have published the content (check_published_by)
};

// True if `text` means to be a link (starts with "firn:"), well-formed or not.
bool looks_like_link(std::string_view text);
// Errors: kBadInput with what is wrong and the right form.
Result<Link> parse_link(std::string_view text);
std::string to_text(const Link& link);

}  // namespace firn
