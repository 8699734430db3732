// A secret Ed25519 key (RFC 8032): of a publisher, or of the authority of a content. It is wiped at
// the end of its life, and appears in no log. Any thread.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "proto/base/ids.h"
#include "proto/base/signature.h"

namespace firn {

class SigningKey {
 public:
  using Secret = std::span<const std::uint8_t, kSigningKeyBytes>;

  static SigningKey generate();
  // Any 32 bytes are a key.
  explicit SigningKey(Secret secret);
  // Of an unencrypted Ed25519 private key in PEM form (RFC 7468); nullopt if `pem` is none.
  static std::optional<SigningKey> from_pem(std::string_view pem);
  ~SigningKey();
  SigningKey(const SigningKey&) = default;
  SigningKey& operator=(const SigningKey&) = default;

  const PublicKey& public_key() const { return public_key_; }
  Secret secret() const { return secret_; }
  // PKCS#8 in PEM form. The caller wipes it (wipe_text).
  std::string to_pem() const;

 private:
  std::array<std::uint8_t, kSigningKeyBytes> secret_{};
  PublicKey public_key_;
};

// Overwrites a text that held a secret, and empties it.
void wipe_text(std::string& text);

}  // namespace firn
