// Epochs, and what is said about them, as the input of a fuzzer chooses them. Most are signed.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "client/core/types.h"
#include "proto/base/digest.h"
#include "proto/base/limits.h"
#include "proto/base/signature.h"
#include "proto/content/authority.h"
#include "proto/epoch_signature.h"
#include "proto/wire_fields.h"
#include "tests/fuzz/fuzz_bytes.h"

namespace firn::fuzz {

inline constexpr std::array<std::uint8_t, kSigningKeyBytes> kAuthoritySecret{1}, kSpeakerSecret{2};

// Lets the peer speak for the content's authority. Signing takes longer than all else here.
inline const std::string& certificate_of(const Manifest& manifest, const PeerId& peer) {
  static std::map<std::pair<ContentId, PeerId>, std::string> known;
  std::string& certificate = known[{manifest.id, peer}];
  if (certificate.empty())
    certificate = make_certificate(manifest.id, peer, kAuthoritySecret).value();
  return certificate;
}

class EpochInputs {
 public:
  // `told`: a nonce that the core has told.
  EpochInputs(FuzzBytes& in, const Manifest& manifest, const std::optional<proto::Nonce>& told,
              core::TimeUs now)
      : in_(in), manifest_(manifest), told_(told), now_(now) {}

  proto::EpochRequest request() {
    proto::EpochRequest request{std::nullopt, in_.below(2) == 0, {}};
    if (in_.below(4) != 0) request.nonce = nonce();
    for (std::uint32_t i = in_.below(4); i > 0; --i) request.wanted.push_back(generation());
    return request;
  }
  proto::EpochProof proof() {
    proto::EpochProof proof{in_.below(20), {{nonce()}}};
    if (in_.below(2) == 0) proof.lists.push_back({nonce(), nonce()});
    return proof;
  }
  proto::Epoch epoch(std::uint64_t number, bool spoilt) {
    proto::Epoch epoch;
    epoch.number = std::max<std::uint64_t>(number, 1);
    epoch.time_us = std::max<core::TimeUs>(now_ + (in_.byte() - 100) * core::kSecond / 10, 0);
    epoch.alarm = in_.below(2) == 0;
    for (std::uint32_t i = in_.below(3); i > 0; --i) {
      epoch.heard.push_back({nonce(), in_.byte() * 1000u});
    }
    fill(epoch);
    static const PeerId speaker =
        *PeerId::from_bytes(sha256(proto::as_bytes(*public_key_of(kSpeakerSecret))).raw());
    epoch.certificate = certificate_of(manifest_, speaker);
    sign_epoch(epoch, manifest_.id, kSpeakerSecret);
    if (spoilt) epoch.signature[in_.below(64)] ^= 1;
    return epoch;
  }
  // What the core wants made; not signed now and then, as if that had failed.
  proto::Epoch made(proto::Epoch epoch) {
    epoch.sums.clear();
    fill(epoch);
    if (in_.below(8) != 0) sign_epoch(epoch, manifest_.id, kSpeakerSecret);
    return epoch;
  }

 private:
  void fill(proto::Epoch& epoch) {
    epoch.key.assign(limits::kCheckKeyBytes, in_.byte());
    std::uint32_t g = generation();
    const Shape& shape = manifest_.info.shape;
    for (std::uint32_t i = in_.below(4); i > 0 && g < limits::kGenerationCountMax; --i, ++g) {
      const std::uint32_t blocks = g < shape.generation_count() ? shape.blocks_in(g) : 1;
      epoch.sums.push_back({g, std::vector<std::uint8_t>(std::size_t{blocks} * 4, 1)});
    }
  }
  std::uint32_t generation() {
    const std::uint32_t count = manifest_.info.shape.generation_count();
    const std::uint8_t b = in_.byte();
    return b < 250 && count > 0 ? b % count : in_.number() % limits::kGenerationCountMax;
  }
  proto::Nonce nonce() {
    if (told_ && in_.below(2) == 0) return *told_;
    proto::Nonce nonce{};
    nonce[0] = in_.byte();
    return nonce;
  }
  FuzzBytes& in_;
  const Manifest& manifest_;
  const std::optional<proto::Nonce> told_;
  const core::TimeUs now_;
};

}  // namespace firn::fuzz
