#include "proto/content/publisher.h"

#include <string>

#include "proto/base/signature.h"

namespace firn {
namespace {

std::string signed_message(std::string_view info) {
  return std::string("firn manifest v1").append(info);
}

}  // namespace

Status check_publisher(const Publisher& publisher, std::string_view info) {
  if (publisher.key.size() != kSigningKeyBytes || publisher.signature.size() != kSignatureBytes)
    return Error{ErrorCode::kBadInput, "check the publisher's signature",
                 "the key does not have 32 bytes or the signature not 64"};
  if (!signed_by(publisher.key, signed_message(info), publisher.signature))
    return Error{ErrorCode::kCorrupt, "check the publisher's signature",
                 "it was not made by the key " + PublicKey::from_bytes(publisher.key)->text() +
                     " for this content"};
  return Done{};
}

Result<Publisher> sign_info(std::string_view info, std::span<const std::uint8_t> secret_key) {
  auto key = public_key_of(secret_key);
  auto signature = sign(signed_message(info), secret_key);
  if (!key || !signature)
    return Error{ErrorCode::kBadInput, "sign the manifest", "the key is not an Ed25519 key"};
  return Publisher{*std::move(key), *std::move(signature)};
}

std::string origins_message(const ContentId& content, const std::vector<std::string>& urls) {
  std::string message = "firn origins v1";
  message.append(content.raw());
  for (const std::string& url : urls) {
    for (int shift = 24; shift >= 0; shift -= 8)
      message += static_cast<char>(url.size() >> shift & 0xff);
    message.append(url);
  }
  return message;
}

Status check_published_by(const Manifest& manifest, const PublicKey& wanted) {
  const auto signer =
      manifest.publisher ? PublicKey::from_bytes(manifest.publisher->key) : std::nullopt;
  if (signer == wanted) return Done{};
  return Error{ErrorCode::kWrongIdentity, "check the publisher of " + manifest.info.name,
               "the key " + wanted.text() + " was asked for; the manifest is " +
                   (signer ? "signed by " + signer->text() : "not signed")};
}

}  // namespace firn
