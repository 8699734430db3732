// Which 32 bytes are an Ed25519 public key (RFC 8032) that somebody can hold.
//
// Eight points of the curve have a small order. As a key each verifies signatures that anybody can
// make without a secret, of one message in eight or of every one. So they are no keys, in all their
// encodings: nothing that they "signed" counts, and no identity, publisher or authority has one.
#pragma once

#include <optional>
#include <string_view>

#include "proto/base/ids.h"

namespace firn {

bool is_public_key(std::string_view bytes);

// nullopt unless the text is a key's (PublicKey::text()).
std::optional<PublicKey> public_key_from_text(std::string_view text);

}  // namespace firn
