#include "proto/block_claim.h"

#include <algorithm>
#include <string_view>

#include "proto/base/digest.h"
#include "proto/wire_fields.h"

namespace firn {
namespace {

void put(std::string& out, std::uint32_t number) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<char>(number >> shift));
}

// `vector`: a Block or a FalseClaim.
template <typename Vector>
std::string signed_message(const Vector& vector, const Digest& payload, const ContentId& content) {
  std::string message = "firn block v1";
  message += content.raw();
  put(message, vector.generation);
  message.push_back(vector.source_index ? 1 : 0);
  if (vector.source_index) {
    put(message, *vector.source_index);
  } else {
    message.append(vector.coefficients.begin(), vector.coefficients.end());
  }
  message += payload.raw();
  return message;
}

std::string_view signature_of(const proto::BlockClaim& claim) {
  return {reinterpret_cast<const char*>(claim.signature.data()), claim.signature.size()};
}

template <typename Vector>
bool is_signed(const proto::BlockClaim& claim, const Vector& vector, const ContentId& content) {
  return signed_by(claim.key.raw(), signed_message(vector, claim.payload, content),
                   signature_of(claim));
}

}  // namespace

proto::BlockClaim make_claim(const proto::Block& block, const Claimant& by) {
  proto::BlockClaim claim;
  claim.key = by.key;
  claim.payload = sha256(block.payload.bytes());
  const std::string signature =
      *sign(signed_message(block, claim.payload, by.content), by.secret_key);
  std::copy(signature.begin(), signature.end(), claim.signature.begin());
  return claim;
}

PeerId claimant_of(const proto::BlockClaim& claim) {
  return peer_id_of(claim.key);
}

bool claim_signed(const proto::FalseClaim& claim, const ContentId& content) {
  return is_signed(claim.claim, claim, content);
}

bool claim_signed(const proto::Block& block, const ContentId& content) {
  return block.claim && is_signed(*block.claim, block, content);
}

bool claim_names_payload(const proto::Block& block) {
  return block.claim && sha256(block.payload.bytes()) == block.claim->payload;
}

bool claim_fits(const proto::Block& block, const ContentId& content) {
  return claim_names_payload(block) && claim_signed(block, content);
}

namespace proto {

std::string claim_bytes(const BlockClaim& claim) {
  std::string bytes(claim.key.raw());
  bytes += claim.payload.raw();
  bytes += signature_of(claim);
  return bytes;
}

std::optional<BlockClaim> claim_from(std::span<const std::uint8_t> bytes) {
  if (bytes.size() != kClaimBytes) return std::nullopt;
  BlockClaim claim;
  auto at = bytes.begin();
  const auto take = [&at](auto& into) {
    std::copy_n(at, into.size(), into.begin());
    at += static_cast<std::ptrdiff_t>(into.size());
  };
  take(claim.key.bytes);
  take(claim.payload.bytes);
  take(claim.signature);
  return claim;
}

}  // namespace proto
}  // namespace firn
