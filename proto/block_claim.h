// Claims about blocks: what the sender of a block says of it in a way that others can check later.
// A peer that signs a claim about a false block convicts itself before each that has the source
// blocks, though nobody keeps the payload: its hash is in the claim, and the coding vector says
// what it should be. A true claim harms nobody.
//
// The signature is Ed25519, by the sender's identity, over
//
//   "firn block v1" || content id (32) || generation (4) || 0 (1) || coefficients (n)
//                                                        or 1 (1) || source index (4)
//   || SHA-256 of the payload (32)
//
// Numbers are big-endian. A block of a generation has one length of vector, so that no two blocks
// have the same bytes. On the wire a claim is key (32) || SHA-256 of the payload (32) || signature
// (64). Any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "proto/base/ids.h"
#include "proto/base/signature.h"
#include "proto/messages.h"

namespace firn {

// The signer of claims: one identity, about one content.
struct Claimant {
  ContentId content;
  PublicKey key;                                               // of that identity
  std::span<const std::uint8_t, kSigningKeyBytes> secret_key;  // outlives this
};

// Of a block with its payload.
proto::BlockClaim make_claim(const proto::Block& block, const Claimant& by);

// The id of the peer whose key the claim names: SHA-256 of the key.
PeerId claimant_of(const proto::BlockClaim& claim);

// Whether that peer has signed it for a block of this generation and coding vector (n coefficients,
// or the number of a source block).
bool claim_signed(const proto::FalseClaim& claim, const ContentId& content);
// The same of a block's claim.
bool claim_signed(const proto::Block& block, const ContentId& content);
// Whether a block's claim is about its payload, which is hashed.
bool claim_names_payload(const proto::Block& block);
// Both.
bool claim_fits(const proto::Block& block, const ContentId& content);

namespace proto {

inline constexpr std::size_t kClaimBytes = 128;
std::string claim_bytes(const BlockClaim& claim);
// nullopt if it does not have 128 bytes.
std::optional<BlockClaim> claim_from(std::span<const std::uint8_t> bytes);

}  // namespace proto
}  // namespace firn
