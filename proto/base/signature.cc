#include "proto/base/signature.h"

#include <openssl/evp.h>

#include <memory>

#include "proto/base/public_key.h"
#include "proto/base/result.h"

namespace firn {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

unsigned char* bytes_of(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

// Null if the bytes are no key.
Key secret(std::span<const std::uint8_t> bytes) {
  return {EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, bytes.data(), bytes.size()),
          EVP_PKEY_free};
}

Context new_context() {
  Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  FIRN_CHECK(context);
  return context;
}

}  // namespace

std::optional<std::string> public_key_of(std::span<const std::uint8_t> secret_key) {
  const Key key = secret(secret_key);
  if (!key) return std::nullopt;
  std::string out(kSigningKeyBytes, '\0');
  std::size_t bytes = out.size();
  FIRN_CHECK(EVP_PKEY_get_raw_public_key(key.get(), bytes_of(out), &bytes) == 1);
  return out;
}

std::optional<std::string> sign(std::string_view message,
                                std::span<const std::uint8_t> secret_key) {
  const Key key = secret(secret_key);
  if (!key) return std::nullopt;
  const Context context = new_context();
  std::string out(kSignatureBytes, '\0');
  std::size_t bytes = out.size();
  FIRN_CHECK(
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestSign(context.get(), bytes_of(out), &bytes, bytes_of(message), message.size()) == 1);
  return out;
}

bool signed_by(std::string_view public_key, std::string_view message, std::string_view signature) {
  if (signature.size() != kSignatureBytes || !is_public_key(public_key)) return false;
  const Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(public_key),
                                            public_key.size()),
                EVP_PKEY_free);
  if (!key) return false;
  const Context context = new_context();
  return EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
         EVP_DigestVerify(context.get(), bytes_of(signature), signature.size(), bytes_of(message),
                          message.size()) == 1;
}

}  // namespace firn
