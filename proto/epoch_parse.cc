#include "proto/epoch_parse.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "proto/base/limits.h"
#include "proto/base/signature.h"
#include "proto/message_checks.h"
#include "proto/wire.h"
#include "proto/wire_fields.h"

namespace firn::proto {
namespace {

using Bytes = std::span<const std::uint8_t>;

Nonce nonce_of(Bytes bytes) {
  Nonce nonce{};
  std::copy_n(bytes.begin(), nonce.size(), nonce.begin());
  return nonce;
}

// False if a generation is named twice or does not ascend, or if its sums are of no possible size.
bool read_sums(const wire::Epoch& from, std::vector<EpochSums>& to) {
  for (const wire::EpochSums& entry : from.sums()) {
    const Bytes sums = as_bytes(entry.sums());
    if (entry.generation() >= limits::kGenerationCountMax || sums.empty() ||
        sums.size() > limits::kGenerationSizeMax * limits::kCheckTagBytesMax ||
        (!to.empty() && to.back().generation >= entry.generation()))
      return false;
    to.push_back({entry.generation(), {sums.begin(), sums.end()}});
  }
  return true;
}

bool read_heard(const wire::Epoch& from, std::vector<HeardNonce>& to) {
  for (const wire::HeardNonce& entry : from.heard()) {
    if (entry.nonce().size() != limits::kNonceBytes) return false;
    to.push_back({nonce_of(as_bytes(entry.nonce())), entry.age()});
  }
  return true;
}

bool read_convicted(const wire::Epoch& from, std::vector<PeerId>& to) {
  const std::string_view ids = from.convicted();
  if (ids.size() % kIdBytes != 0 || ids.size() > limits::kEpochConvictedMax * kIdBytes)
    return false;
  for (std::size_t at = 0; at < ids.size(); at += kIdBytes)
    to.push_back(*PeerId::from_bytes(ids.substr(at, kIdBytes)));
  return true;
}

}  // namespace

Result<Epoch> parse_epoch(Bytes body) {
  if (body.size() > limits::kEpochBytesMax ||
      !count_fits(body, wire::Epoch::kSumsFieldNumber, limits::kEpochSumsMax) ||
      !count_fits(body, wire::Epoch::kHeardFieldNumber, limits::kEpochHeardMax))
    return peer_error("epoch: malformed or too large");
  wire::Epoch from;
  if (!parse_wire(body, from)) return peer_error("epoch: not an Epoch message");
  const auto speaker = PublicKey::from_bytes(from.speaker());
  if (!speaker || from.certificate().size() != limits::kCertificateBytes ||
      from.key().size() != limits::kCheckKeyBytes || from.signature().size() != kSignatureBytes)
    return peer_error("epoch: a key, certificate or signature of the wrong size");
  if (from.number() == 0 || from.time() > static_cast<std::uint64_t>(INT64_MAX) / 4)
    return peer_error("epoch: no number, or an impossible time");
  const Bytes key = as_bytes(from.key());
  Epoch epoch{.speaker = *speaker,
              .certificate = from.certificate(),
              .number = from.number(),
              .time_us = static_cast<std::int64_t>(from.time()),
              .key = {key.begin(), key.end()},
              .alarm = from.alarm(),
              .sums = {},
              .heard = {},
              .signature = from.signature()};
  if (!read_sums(from, epoch.sums) || !read_heard(from, epoch.heard) ||
      !read_convicted(from, epoch.convicted))
    return peer_error("epoch: sums, nonces or convicted peers of the wrong size or order");
  return epoch;
}

Result<EpochRequest> parse_epoch_request(Bytes body) {
  wire::EpochRequest from;
  // Packed or not, a number takes a byte at least.
  if (body.size() > limits::kEpochWantedMax * 16 + 64 || !parse_wire(body, from) ||
      from.wanted_size() > static_cast<int>(limits::kEpochWantedMax))
    return peer_error("epoch request: malformed, or too many generations");
  if (!from.nonce().empty() && from.nonce().size() != limits::kNonceBytes)
    return peer_error("epoch request: a nonce of the wrong size");
  EpochRequest request{std::nullopt, from.alarm(), {}};
  if (!from.nonce().empty()) request.nonce = nonce_of(as_bytes(from.nonce()));
  for (const std::uint32_t g : from.wanted()) {
    if (g >= limits::kGenerationCountMax)
      return peer_error("epoch request: a generation's number is too large");
    request.wanted.push_back(g);
  }
  return request;
}

Result<EpochProof> parse_epoch_proof(Bytes body) {
  if (!count_fits(body, wire::EpochProof::kListsFieldNumber, limits::kEpochProofListsMax))
    return peer_error("epoch proof: malformed, or too many lists");
  wire::EpochProof from;
  if (!parse_wire(body, from) || from.lists().empty())
    return peer_error("epoch proof: not an EpochProof message, or an empty one");
  EpochProof proof{from.epoch(), {}};
  for (const std::string& list : from.lists()) {
    const Bytes bytes = as_bytes(list);
    if (bytes.empty() || bytes.size() % limits::kNonceBytes != 0 ||
        bytes.size() > limits::kEpochProofNoncesMax * limits::kNonceBytes)
      return peer_error("epoch proof: a list of the wrong size");
    std::vector<Nonce>& nonces = proof.lists.emplace_back();
    for (std::size_t at = 0; at < bytes.size(); at += limits::kNonceBytes)
      nonces.push_back(nonce_of(bytes.subspan(at)));
  }
  return proof;
}

}  // namespace firn::proto
