#include "client/privacy/private_keys.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>

#include <string_view>

#include "client/checks/hkdf.h"
#include "proto/base/result.h"

namespace firn::privacy {
namespace {

using Key = codec::SecretVector<std::uint8_t>;

Key derive(const ContentSecret& secret, const ContentId& content, std::string_view purpose) {
  Key key(checks::kSecretBytes);
  checks::hkdf_sha256(secret.bytes(), content, purpose, key);
  return key;
}

SigningKey rendezvous_key(const ContentSecret& secret, const ContentId& content) {
  const Key seed = derive(secret, content, "firn private v1 rendezvous");
  return SigningKey(SigningKey::Secret(seed.data(), kSigningKeyBytes));
}

}  // namespace

PrivateKeys::PrivateKeys(const ContentSecret& secret, const ContentId& content)
    : rendezvous_key_(rendezvous_key(secret, content)),
      rendezvous_(*ContentId::from_bytes(rendezvous_key_.public_key().raw())),
      proof_key_(derive(secret, content, "firn private v1 proof")),
      manifest_key_(derive(secret, content, "firn private v1 manifest")) {}

Proof PrivateKeys::proof(Side side, const Session& session) const {
  std::string message =
      side == Side::kCaller ? "firn private v1 caller" : "firn private v1 answerer";
  message.append(session.binding.begin(), session.binding.end());
  message.append(session.caller.raw()).append(session.answerer.raw());
  Proof proof{};
  unsigned int bytes = 0;
  const auto* made = HMAC(EVP_sha256(), proof_key_.data(), static_cast<int>(proof_key_.size()),
                          reinterpret_cast<const unsigned char*>(message.data()), message.size(),
                          proof.data(), &bytes);
  FIRN_CHECK(made != nullptr && bytes == proof.size());
  return proof;
}

bool PrivateKeys::proves(const Proof& proof, Side side, const Session& session) const {
  const Proof right = this->proof(side, session);
  return CRYPTO_memcmp(right.data(), proof.data(), right.size()) == 0;
}

std::string PrivateKeys::sign(std::string_view message) const {
  return *firn::sign(message, rendezvous_key_.secret());
}

}  // namespace firn::privacy
