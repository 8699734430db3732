// The authority of a content: the Ed25519 key that its manifest names (Info::authority_key). A peer
// that speaks for it shows a certificate in its Hello: a signature over the content and the peer's
// own id, which TLS has proven, so that nobody else can use it. What such a peer sends is taken for
// true, and it may judge what others sent.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proto/base/ids.h"
#include "proto/content/manifest.h"

namespace firn {

// The id that the content would have without an authority: what a publisher that keeps one secret
// for all contents derives each one's key from. `info` must have passed check_info.
ContentId id_without_authority(const Info& info);

// nullopt if `secret_key` does not have 32 bytes.
std::optional<std::string> make_certificate(const ContentId& content, const PeerId& peer,
                                            std::span<const std::uint8_t> secret_key);

// Whether the holder of `authority_key` (32 bytes; empty: nobody) lets `peer` speak for it.
bool certified(std::string_view authority_key, const ContentId& content, const PeerId& peer,
               std::string_view certificate);

// A certificate for people: base32, 103 characters.
std::string certificate_text(std::string_view certificate);
// nullopt if it is no text of 64 bytes.
std::optional<std::string> certificate_from_text(std::string_view text);

}  // namespace firn
