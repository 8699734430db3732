// Who stands behind a content, as its manifest proves it: the publisher's signatures, Ed25519
// (RFC 8032), over "firn manifest v1" || info and, apart from it, over the origins; and the
// authority that the info part names.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "proto/content/manifest.h"

namespace firn {

// Errors: kBadInput (a field of the wrong size), kCorrupt (the signature does not fit).
Status check_publisher(const Publisher& publisher, std::string_view info);

// `secret_key`: 32 bytes. Errors: kBadInput (no key).
Result<Publisher> sign_info(std::string_view info, std::span<const std::uint8_t> secret_key);

// What the publisher signs of the origins (docs/formats.md): no two contents or lists of URLs have
// the same bytes. Without a signature whoever passes a manifest on could name a victim's server.
std::string origins_message(const ContentId& content, const std::vector<std::string>& urls);

// Whether the holder of `wanted` published the content: it signed the manifest. The authority that
// a manifest names does not count, as anybody may name any key. Errors: kWrongIdentity, with the
// key that stands there.
Status check_published_by(const Manifest& manifest, const PublicKey& wanted);

}  // namespace firn
