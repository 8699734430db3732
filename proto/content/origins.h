// Origins: web servers and buckets that have a content's files, as manifests and links name them.
// Whoever may change a manifest or link could name a victim's server there. So the publisher signs
// the origins of a manifest apart from its info part.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "proto/base/ids.h"
#include "proto/base/result.h"

namespace firn {

// Whether a manifest or link may name this URL: http, https or s3 with a host, of the characters
// that a URL may have, without a user name, password or fragment, within limits.h. Errors:
// kBadInput says what is wrong, and does not repeat the URL, which may hold a password.
Status check_origin_text(std::string_view url);

// What the publisher signs (docs/formats.md): no two contents or lists of URLs have the same bytes.
std::string origins_message(const ContentId& content, const std::vector<std::string>& urls);

}  // namespace firn
