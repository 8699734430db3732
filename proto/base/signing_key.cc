#include "proto/base/signing_key.h"

#include <openssl/bio.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>

#include <algorithm>
#include <memory>

#include "proto/base/result.h"

namespace firn {
namespace {

struct FreeOpenssl {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(BIO* bio) const { BIO_free_all(bio); }
};
using KeyPtr = std::unique_ptr<EVP_PKEY, FreeOpenssl>;
using BioPtr = std::unique_ptr<BIO, FreeOpenssl>;

// Never asks at the terminal: an encrypted key is simply not one of ours.
int no_passphrase(char*, int, int, void*) {
  return -1;
}

}  // namespace

SigningKey::SigningKey(Secret secret) {
  std::copy(secret.begin(), secret.end(), secret_.begin());
  public_key_ = *PublicKey::from_bytes(*public_key_of(secret_));
}

SigningKey::~SigningKey() {
  OPENSSL_cleanse(secret_.data(), secret_.size());
}

SigningKey SigningKey::generate() {
  std::array<std::uint8_t, kSigningKeyBytes> secret{};
  FIRN_CHECK(RAND_priv_bytes(secret.data(), static_cast<int>(secret.size())) == 1);
  SigningKey key{Secret(secret)};
  OPENSSL_cleanse(secret.data(), secret.size());
  return key;
}

std::optional<SigningKey> SigningKey::from_pem(std::string_view pem) {
  const BioPtr bio(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const KeyPtr key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_passphrase, nullptr)
                       : nullptr);
  ERR_clear_error();
  if (!key || EVP_PKEY_get_base_id(key.get()) != EVP_PKEY_ED25519) return std::nullopt;
  std::array<std::uint8_t, kSigningKeyBytes> secret{};
  std::size_t bytes = secret.size();
  FIRN_CHECK(EVP_PKEY_get_raw_private_key(key.get(), secret.data(), &bytes) == 1);
  SigningKey made{Secret(secret)};
  OPENSSL_cleanse(secret.data(), secret.size());
  return made;
}

std::string SigningKey::to_pem() const {
  const KeyPtr key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, secret_.data(), secret_.size()));
  const BioPtr bio(BIO_new(BIO_s_mem()));  // wiped when it is freed
  FIRN_CHECK(key && bio &&
             PEM_write_bio_PKCS8PrivateKey(bio.get(), key.get(), nullptr, nullptr, 0, nullptr,
                                           nullptr) == 1);
  const char* data = nullptr;
  const long bytes = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(bytes)};
}

void wipe_text(std::string& text) {
  OPENSSL_cleanse(text.data(), text.size());
  text.clear();
}

}  // namespace firn
