// Answers to MakeEpoch in simulations. The key and the sums are as large as real ones; which rows
// are false is known there. The signature is real.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "client/core/actions.h"
#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/base/signature.h"
#include "proto/content/shape.h"
#include "proto/epoch_signature.h"
#include "proto/wire_fields.h"

namespace firn::sim {

using IdentitySecret = std::array<std::uint8_t, kSigningKeyBytes>;

// The id of the peer whose identity has this secret key.
inline PeerId id_of(const IdentitySecret& secret) {
  const std::string key = *public_key_of(secret);
  return *PeerId::from_bytes(sha256(proto::as_bytes(key)).raw());
}

inline proto::Epoch made_epoch(const core::MakeEpoch& action, const Shape& shape,
                               const ContentId& content, const IdentitySecret& secret,
                               bool false_sums = false) {
  proto::Epoch epoch = action.epoch;
  epoch.key.assign(limits::kCheckKeyBytes, static_cast<std::uint8_t>(epoch.number));
  for (proto::EpochSums& one : epoch.sums) {
    one.sums.assign(std::size_t{shape.blocks_in(one.generation)} * action.tag_bytes, false_sums);
  }
  sign_epoch(epoch, content, std::span<const std::uint8_t, kSigningKeyBytes>(secret));
  return epoch;
}

}  // namespace firn::sim
