#include "proto/content/publisher.h"

#include <openssl/evp.h>

#include <memory>
#include <string>

namespace firn {
namespace {

using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Context = std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)>;

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

std::string signed_message(std::string_view info) {
  return std::string("firn manifest v1").append(info);
}

}  // namespace

Status check_publisher(const Publisher& publisher, std::string_view info) {
  if (publisher.key.size() != kPublisherKeyBytes ||
      publisher.signature.size() != kPublisherSignatureBytes)
    return Error{ErrorCode::kBadInput, "check the publisher's signature",
                 "the key does not have 32 bytes or the signature not 64"};
  const Key key(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, nullptr, bytes_of(publisher.key),
                                            publisher.key.size()),
                EVP_PKEY_free);
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  FIRN_CHECK(context);
  const std::string message = signed_message(info);
  const bool good =
      key && EVP_DigestVerifyInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestVerify(context.get(), bytes_of(publisher.signature), publisher.signature.size(),
                       bytes_of(message), message.size()) == 1;
  if (!good)
    return Error{ErrorCode::kCorrupt, "check the publisher's signature",
                 "it was not made by this key for this content"};
  return Done{};
}

Result<Publisher> sign_info(std::string_view info, std::span<const std::uint8_t> secret_key) {
  const Key key(
      EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, nullptr, secret_key.data(), secret_key.size()),
      EVP_PKEY_free);
  if (!key)
    return Error{ErrorCode::kBadInput, "sign the manifest", "the key is not an Ed25519 key"};
  const Context context(EVP_MD_CTX_new(), EVP_MD_CTX_free);
  FIRN_CHECK(context);
  Publisher publisher{.key = std::string(kPublisherKeyBytes, '\0'),
                      .signature = std::string(kPublisherSignatureBytes, '\0')};
  std::size_t key_bytes = publisher.key.size(), signature_bytes = publisher.signature.size();
  const std::string message = signed_message(info);
  FIRN_CHECK(
      EVP_PKEY_get_raw_public_key(key.get(), reinterpret_cast<unsigned char*>(publisher.key.data()),
                                  &key_bytes) == 1 &&
      EVP_DigestSignInit(context.get(), nullptr, nullptr, nullptr, key.get()) == 1 &&
      EVP_DigestSign(context.get(), reinterpret_cast<unsigned char*>(publisher.signature.data()),
                     &signature_bytes, bytes_of(message), message.size()) == 1);
  return publisher;
}

}  // namespace firn
