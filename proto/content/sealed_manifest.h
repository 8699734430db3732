// The manifest of a private content as a tracker hosts it: sealed, so that the tracker sees neither
// what it says nor which content it is of, and signed by the key whose public part is the
// rendezvous id, so that only peers that know the secret can put one there.
//
//   0       8   "FIRNSEA1"
//   8       12  nonce
//   20      c   AES-256-GCM: length of the manifest file (4 bytes, big-endian), the file, zeros
//   20 + c  16  its tag; associated data: "FIRNSEA1", rendezvous id
//   36 + c  64  Ed25519 signature over "firn sealed manifest v1" and all bytes before
//
// The whole has 64 KiB times a power of two: its size tells only about how large the manifest is.
// docs/formats.md draws it. Sealing and opening take the secret: client/privacy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "proto/base/ids.h"
#include "proto/base/result.h"
#include "proto/base/signature.h"

namespace firn {

inline constexpr std::string_view kSealedMagic = "FIRNSEA1";
inline constexpr std::size_t kSealNonceBytes = 12;
inline constexpr std::size_t kSealTagBytes = 16;
inline constexpr std::size_t kSealLengthBytes = 4;
inline constexpr std::size_t kSealHeadBytes = kSealedMagic.size() + kSealNonceBytes;
inline constexpr std::size_t kSealBytes =
    kSealHeadBytes + kSealLengthBytes + kSealTagBytes + kSignatureBytes;  // around the manifest

// The size of the sealed file of a manifest of so many bytes. Errors: kBadInput (larger than may be
// hosted sealed).
Result<std::size_t> sealed_bytes(std::size_t manifest_bytes);

bool is_sealed_manifest(std::string_view file_bytes);

// What the signature is over, of a file but for its signature.
std::string sealed_message(std::string_view unsigned_bytes);

// Whether the holder of the rendezvous key sealed it; says nothing of what it holds. Errors:
// kBadInput (size or magic), kCorrupt (the signature).
Status check_sealed_manifest(std::string_view file_bytes, const ContentId& rendezvous);

}  // namespace firn
