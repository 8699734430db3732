// What a private content's secret is used for, each purpose with a key of its own:
//
//   key       = HKDF-SHA256 (RFC 5869) of the secret; salt: the content id; info: the purpose
//   "firn private v1 rendezvous"   32 bytes: an Ed25519 key; its public part is the rendezvous id,
//                                  which trackers know the content by
//   "firn private v1 proof"        32 bytes: peers prove with it that they know the secret
//   "firn private v1 manifest"     32 bytes: seals the manifest that a tracker hosts
//
// Nobody can tell a rendezvous id from random bytes, or find content id or secret from it.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "codec/secret_memory.h"
#include "proto/base/ids.h"
#include "proto/base/limits.h"
#include "proto/base/signing_key.h"
#include "proto/content/content_secret.h"

namespace firn::privacy {

using Proof = std::array<std::uint8_t, limits::kPrivateProofBytes>;

// A connection as both of its sides see it.
struct Session {
  std::span<const std::uint8_t> binding;  // known to its two sides alone (TLS exporter)
  PeerId caller, answerer;
};

// Which side makes a proof: the sides' proofs differ, so that none can be sent back.
enum class Side { kCaller, kAnswerer };

// Constant after it was made: any thread. Wiped at the end of its life.
class PrivateKeys {
 public:
  PrivateKeys(const ContentSecret& secret, const ContentId& content);

  const ContentId& rendezvous() const { return rendezvous_; }
  // HMAC-SHA256 (RFC 2104) under the proof key, over "firn private v1 caller" (or "answerer"), the
  // binding, and the ids of caller and answerer.
  Proof proof(Side side, const Session& session) const;
  // In a time that does not depend on where they differ.
  bool proves(const Proof& proof, Side side, const Session& session) const;

  // For seal_manifest() and open_manifest().
  std::span<const std::uint8_t> manifest_key() const { return manifest_key_; }
  std::string sign(std::string_view message) const;

 private:
  SigningKey rendezvous_key_;
  ContentId rendezvous_;
  codec::SecretVector<std::uint8_t> proof_key_, manifest_key_;
};

}  // namespace firn::privacy
