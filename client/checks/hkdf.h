// HKDF-SHA256 (RFC 5869): keys for one purpose out of a master secret.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "proto/base/ids.h"

namespace firn::checks {

inline constexpr std::size_t kSecretBytes = 32;
using SecretView = std::span<const std::uint8_t, kSecretBytes>;

// Fills `out`; the salt is the content id, `info` says what the key is for. Any thread.
void hkdf_sha256(SecretView secret, const ContentId& salt, std::string_view info,
                 std::span<std::uint8_t> out);

}  // namespace firn::checks
