// A peer of a large mesh whose content has an authority, and Epochs for it.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "client/core/policy/constants.h"
#include "proto/base/digest.h"
#include "proto/epoch_signature.h"
#include "proto/wire_fields.h"
#include "tests/core/fixture.h"

namespace firn::test {

using IdentitySecret = std::array<std::uint8_t, kSigningKeyBytes>;

inline PeerId id_of(const IdentitySecret& secret) {
  return *PeerId::from_bytes(sha256(proto::as_bytes(*public_key_of(secret))).raw());
}

inline proto::Nonce nonce_of(std::uint8_t byte) {
  proto::Nonce nonce{};
  nonce.fill(byte);
  return nonce;
}

// What a relay makes of the nonces that it sends on as one.
inline proto::Nonce hash_of(const std::vector<proto::Nonce>& list) {
  std::string bytes = "firn nonces v1";
  for (const proto::Nonce& nonce : list) bytes.append(nonce.begin(), nonce.end());
  const Digest digest = sha256(proto::as_bytes(bytes));
  proto::Nonce hash{};
  std::copy_n(digest.bytes.begin(), hash.size(), hash.begin());
  return hash;
}

inline core::Options large_mesh_options(core::Options options = plain_options()) {
  options.trackers = {Address{std::nullopt, "tracker", 1}};
  return options;
}

struct EpochFixture : Fixture {
  static constexpr IdentitySecret kVoice{5}, kOtherVoice{6};
  static constexpr std::uint32_t kGenerations = 4, kBlocks = 4;

  explicit EpochFixture(core::Options options = large_mesh_options(),
                        std::uint32_t blocks = kBlocks)
      : Fixture(vouched_manifest(kGenerations, blocks, 8192), std::move(options)) {}

  void begin(bool complete = false) {
    start(complete);
    tell_of(100);
  }
  // The tracker knows of so many peers.
  void tell_of(std::uint32_t peers) {
    proto::AnnounceReply reply;
    reply.interval_seconds = 1800;
    reply.incomplete_count = peers;
    core.tracker_replied(0, reply, now);
    drain();
  }
  // By the speaker's clock.
  TimeUs voice_time() const { return 1000 * kSecond + now; }
  proto::Epoch unsigned_epoch(std::uint64_t number, bool alarm = false) const {
    proto::Epoch epoch;
    epoch.number = number;
    epoch.time_us = voice_time();
    epoch.alarm = alarm;
    epoch.key.assign(limits::kCheckKeyBytes, static_cast<std::uint8_t>(number));
    for (std::uint32_t g = 0; g < kGenerations; ++g) {
      epoch.sums.push_back({g, std::vector<std::uint8_t>(shape().blocks_in(g) * 4, 7)});
    }
    return epoch;
  }
  proto::Epoch said(proto::Epoch epoch, const IdentitySecret& voice = kVoice) const {
    epoch.certificate = make_certificate(manifest.id, id_of(voice), kAuthoritySecret).value();
    sign_epoch(epoch, manifest.id, voice);
    return epoch;
  }
  proto::Epoch epoch(std::uint64_t number, bool alarm = false) const {
    return said(unsigned_epoch(number, alarm));
  }
  // With the nonce that this peer has sent to `from`: it is of this run, and what it says counts.
  proto::Epoch naming_nonce(PeerKey from, proto::Epoch epoch) {
    const auto requests = heard<proto::EpochRequest>(from);
    const auto last = std::find_if(requests.rbegin(), requests.rend(),
                                   [](const auto& one) { return one.nonce.has_value(); });
    REQUIRE(last != requests.rend());
    epoch.heard = {{*last->nonce, 0}};
    return epoch;
  }
  // To how many of the neighbours from..to the core has handed on Epochs since the last call, and
  // to none of them twice.
  std::size_t handed_on(PeerKey from, PeerKey to) {
    std::size_t found = 0;
    for (PeerKey peer = from; peer <= to; ++peer) {
      const std::size_t sent = heard<proto::Epoch>(peer).size();
      CHECK(sent <= 1);
      found += sent;
    }
    return found;
  }
  // Whether numbered(`number`) is turned away for a ban.
  bool banned(std::uint32_t number) {
    const PeerKey key = 1000 + ++tries_;
    connect(key, numbered(number));
    for (const proto::Goodbye& goodbye : heard<proto::Goodbye>(key)) {
      if (goodbye.reason == proto::GoodbyeReason::kBanned) return true;
    }
    return false;
  }
  bool punished(PeerKey peer) {
    for (const proto::Goodbye& goodbye : heard<proto::Goodbye>(peer)) {
      if (goodbye.reason == proto::GoodbyeReason::kProtocolError) return true;
    }
    return false;
  }

 private:
  PeerKey tries_ = 0;
};

}  // namespace firn::test
