// The publisher's signature in a manifest: Ed25519 (RFC 8032) over "firn manifest v1" || info.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "proto/content/manifest.h"

namespace firn {

// Errors: kBadInput (a field of the wrong size), kCorrupt (the signature does not fit).
Status check_publisher(const Publisher& publisher, std::string_view info);

// `secret_key`: 32 bytes. Errors: kBadInput (no key).
Result<Publisher> sign_info(std::string_view info, std::span<const std::uint8_t> secret_key);

}  // namespace firn
