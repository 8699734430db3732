#include "proto/content/authority.h"

#include <array>

#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/base/signature.h"
#include "proto/content/manifest_info.h"
#include "proto/wire_fields.h"

namespace firn {
namespace {

std::string certified_message(const ContentId& content, const PeerId& peer) {
  std::string message = "firn authority v1";
  message.append(content.bytes.begin(), content.bytes.end());
  message.append(peer.bytes.begin(), peer.bytes.end());
  return message;
}

}  // namespace

ContentId id_without_authority(const Info& info) {
  return *ContentId::from_bytes(sha256(proto::as_bytes(info_to_bytes(info, {}))).raw());
}

std::optional<std::string> make_certificate(const ContentId& content, const PeerId& peer,
                                            std::span<const std::uint8_t> secret_key) {
  return sign(certified_message(content, peer), secret_key);
}

bool certified(std::string_view authority_key, const ContentId& content, const PeerId& peer,
               std::string_view certificate) {
  return !authority_key.empty() && !certificate.empty() &&
         signed_by(authority_key, certified_message(content, peer), certificate);
}

std::string certificate_text(std::string_view certificate) {
  return base32_encode(proto::as_bytes(certificate));
}

std::optional<std::string> certificate_from_text(std::string_view text) {
  std::array<std::uint8_t, limits::kCertificateBytes> bytes{};
  if (!base32_decode(text, bytes)) return std::nullopt;
  return std::string(bytes.begin(), bytes.end());
}

}  // namespace firn
