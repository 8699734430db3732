// SHA-256 and the Merkle trees over it (OpenSSL's EVP underneath).
//   leaf  = SHA-256(0x00 || data)       node = SHA-256(0x01 || left || right)
// A tree over m leaves is split at the largest power of two below m (RFC 9162, section 2.1.1);
// the root of no leaves is SHA-256 of the empty string.
#pragma once

#include <cstdint>
#include <span>

#include "proto/ids.h"

namespace firn {

Digest sha256(std::span<const std::uint8_t> data);
Digest merkle_leaf(std::span<const std::uint8_t> data);
Digest merkle_root(std::span<const Digest> leaves);

// The digest of a generation: the root over its n source blocks' leaves. `data` is n * block_bytes
// bytes, padding included. Any thread.
Digest generation_digest(std::span<const std::uint8_t> data, std::size_t block_bytes);

}  // namespace firn
