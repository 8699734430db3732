#include "proto/epoch_signature.h"

#include "proto/base/digest.h"
#include "proto/wire_fields.h"

namespace firn {
namespace {

template <typename Number>
void put(std::string& out, Number number) {
  for (int shift = 8 * (static_cast<int>(sizeof number) - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<char>(number >> shift));
}

template <typename Bytes>
void put_bytes(std::string& out, const Bytes& bytes) {
  out.append(bytes.begin(), bytes.end());
}

std::string signed_message(const proto::Epoch& epoch, const ContentId& content) {
  std::string message = "firn epoch v1";
  put_bytes(message, content.bytes);
  put(message, epoch.number);
  put(message, static_cast<std::uint64_t>(epoch.time_us));
  put(message, static_cast<std::uint8_t>(epoch.alarm));
  put_bytes(message, epoch.key);
  put(message, static_cast<std::uint32_t>(epoch.sums.size()));
  for (const proto::EpochSums& one : epoch.sums) {
    put(message, one.generation);
    put(message, static_cast<std::uint32_t>(one.sums.size()));
    put_bytes(message, one.sums);
  }
  put(message, static_cast<std::uint32_t>(epoch.heard.size()));
  for (const proto::HeardNonce& one : epoch.heard) {
    put_bytes(message, one.nonce);
    put(message, one.age_us);
  }
  put(message, static_cast<std::uint32_t>(epoch.convicted.size()));
  for (const PeerId& id : epoch.convicted) put_bytes(message, id.bytes);
  return message;
}

}  // namespace

void sign_epoch(proto::Epoch& epoch, const ContentId& content,
                std::span<const std::uint8_t, kSigningKeyBytes> secret_key) {
  epoch.speaker = *PublicKey::from_bytes(*public_key_of(secret_key));
  epoch.signature = *sign(signed_message(epoch, content), secret_key);
}

PeerId speaker_of(const proto::Epoch& epoch) {
  return peer_id_of(epoch.speaker);
}

bool epoch_signed(const proto::Epoch& epoch, const ContentId& content) {
  return signed_by(epoch.speaker.raw(), signed_message(epoch, content), epoch.signature);
}

}  // namespace firn
