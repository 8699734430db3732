#include "client/privacy/manifest_seal.h"

#include <openssl/evp.h>
#include <openssl/rand.h>

#include <memory>

#include "proto/content/sealed_manifest.h"

namespace firn::privacy {
namespace {

struct FreeCipher {
  void operator()(EVP_CIPHER_CTX* cipher) const { EVP_CIPHER_CTX_free(cipher); }
};
using Cipher = std::unique_ptr<EVP_CIPHER_CTX, FreeCipher>;

const unsigned char* octets(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}
unsigned char* octets(std::string& text) {
  return reinterpret_cast<unsigned char*>(text.data());
}

// AES-256-GCM under the manifest key and this nonce, with the associated data fed.
Cipher begin(const PrivateKeys& keys, std::string_view nonce, bool sealing) {
  Cipher cipher(EVP_CIPHER_CTX_new());
  const std::string associated = std::string(kSealedMagic).append(keys.rendezvous().raw());
  int bytes = 0;
  FIRN_CHECK(cipher &&
             EVP_CipherInit_ex(cipher.get(), EVP_aes_256_gcm(), nullptr, keys.manifest_key().data(),
                               octets(nonce), sealing ? 1 : 0) == 1);
  FIRN_CHECK(EVP_CipherUpdate(cipher.get(), nullptr, &bytes, octets(associated),
                              static_cast<int>(associated.size())) == 1);
  return cipher;
}

std::string run(EVP_CIPHER_CTX* cipher, std::string_view from) {
  std::string to(from.size(), '\0');
  int bytes = 0;
  FIRN_CHECK(EVP_CipherUpdate(cipher, octets(to), &bytes, octets(from),
                              static_cast<int>(from.size())) == 1 &&
             static_cast<std::size_t>(bytes) == from.size());
  return to;
}

bool finish(EVP_CIPHER_CTX* cipher) {
  unsigned char none[16];  // GCM leaves nothing to the end
  int bytes = 0;
  return EVP_CipherFinal_ex(cipher, none, &bytes) == 1;
}

Error corrupt() {
  return {ErrorCode::kCorrupt, "open the sealed manifest",
          "it was not sealed with this content's secret, or is damaged"};
}

}  // namespace

Result<std::string> seal_manifest(const PrivateKeys& keys, std::string_view manifest_file) {
  const auto whole = sealed_bytes(manifest_file.size());
  if (!whole.ok()) return whole.error();
  std::string plain(*whole - kSealBytes + kSealLengthBytes, '\0');
  for (std::size_t i = 0; i < kSealLengthBytes; ++i)
    plain[i] = static_cast<char>(manifest_file.size() >> (8 * (kSealLengthBytes - 1 - i)) & 0xff);
  plain.replace(kSealLengthBytes, manifest_file.size(), manifest_file);

  std::string nonce(kSealNonceBytes, '\0');
  FIRN_CHECK(RAND_bytes(octets(nonce), static_cast<int>(nonce.size())) == 1);
  const Cipher cipher = begin(keys, nonce, true);
  std::string sealed = std::string(kSealedMagic).append(nonce).append(run(cipher.get(), plain));
  std::string tag(kSealTagBytes, '\0');
  FIRN_CHECK(finish(cipher.get()) && EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_GET_TAG,
                                                         kSealTagBytes, tag.data()) == 1);
  sealed += tag;
  sealed += keys.sign(sealed_message(sealed));
  return sealed;
}

Result<std::string> open_manifest(const PrivateKeys& keys, std::string_view sealed) {
  if (const Status right = check_sealed_manifest(sealed, keys.rendezvous()); !right.ok())
    return right.error();
  const std::string_view nonce = sealed.substr(kSealedMagic.size(), kSealNonceBytes);
  const std::string_view inner = sealed.substr(
      kSealHeadBytes, sealed.size() - kSealHeadBytes - kSealTagBytes - kSignatureBytes);
  std::string tag(sealed.substr(kSealHeadBytes + inner.size(), kSealTagBytes));
  const Cipher cipher = begin(keys, nonce, false);
  std::string plain = run(cipher.get(), inner);
  FIRN_CHECK(EVP_CIPHER_CTX_ctrl(cipher.get(), EVP_CTRL_AEAD_SET_TAG, kSealTagBytes, tag.data()) ==
             1);
  if (!finish(cipher.get())) return corrupt();
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < kSealLengthBytes; ++i)
    bytes = bytes << 8 | static_cast<std::uint8_t>(plain[i]);
  if (bytes > plain.size() - kSealLengthBytes) return corrupt();
  return plain.substr(kSealLengthBytes, bytes);
}

}  // namespace firn::privacy
