// A link is enough to start a download: `firn:<base32 content id>?tr=ADDR&peer=ADDR&...`,
// ADDR percent-encoded as in RFC 3986. Unknown parameters are ignored. The link of a private
// content has a point and the content's secret behind the id, where a program that does not know
// private contents stops: as a parameter it would be ignored, and the content asked for in the
// open.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "proto/base/address.h"
#include "proto/base/ids.h"
#include "proto/base/result.h"
#include "proto/content/content_secret.h"

namespace firn {

struct Link {
  ContentId content_id;
  std::vector<Address> trackers;
  std::vector<Address> peers;
  std::optional<PublicKey> publisher;        // must have published the content (check_published_by)
  std::optional<ContentSecret> secret = {};  // of a private content
};

// True if `text` means to be a link (starts with "firn:"), well-formed or not.
bool looks_like_link(std::string_view text);
// Errors: kBadInput with what is wrong and the right form.
Result<Link> parse_link(std::string_view text);
std::string to_text(const Link& link);

}  // namespace firn
