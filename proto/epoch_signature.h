// Signatures of Epochs: Ed25519, by a peer that speaks for the content's authority
// (proto/content/authority.h), over
//
//   "firn epoch v1" || content id (32) || number (8) || time (8) || alarm (1) || check key (32)
//   || generations with sums (4) || for each: generation (4), bytes (4), sums
//   || nonces (4) || for each: nonce (16), age (4)
//   || convicted peers (4) || for each: id (32)
//
// Numbers are big-endian; so no two Epochs have the same bytes. Any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "proto/base/ids.h"
#include "proto/base/signature.h"
#include "proto/messages.h"

namespace firn {

// Puts speaker and signature into the epoch. `secret_key`: of the speaker's identity.
void sign_epoch(proto::Epoch& epoch, const ContentId& content,
                std::span<const std::uint8_t, kSigningKeyBytes> secret_key);

// The id of the peer that has signed the epoch: SHA-256 of its key.
PeerId speaker_of(const proto::Epoch& epoch);

// Whether the speaker has signed it. Whether it speaks for the authority: certified().
bool epoch_signed(const proto::Epoch& epoch, const ContentId& content);

}  // namespace firn
