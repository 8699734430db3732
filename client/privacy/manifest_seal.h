// Seals and opens a private content's manifest (proto/content/sealed_manifest.h) for a tracker.
#pragma once

#include <string>
#include <string_view>

#include "client/privacy/private_keys.h"
#include "proto/base/result.h"

namespace firn::privacy {

// Under a fresh nonce. Errors: kBadInput (too large to be hosted sealed).
Result<std::string> seal_manifest(const PrivateKeys& keys, std::string_view manifest_file);

// The manifest file, which may be of anything: only peers that know the secret can have sealed it.
// Errors: kBadInput, kCorrupt (sealed with another secret, or changed since).
Result<std::string> open_manifest(const PrivateKeys& keys, std::string_view sealed);

}  // namespace firn::privacy
