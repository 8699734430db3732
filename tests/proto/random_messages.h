// Random valid messages, the same for the same seed.
#pragma once

#include <random>

#include "proto/messages.h"

namespace firn::test {

class RandomMessages {
 public:
  explicit RandomMessages(unsigned seed) : random_(seed) {}

  proto::PeerMessage peer_message();
  proto::TrackerRequest tracker_request();
  proto::TrackerReply tracker_reply();

 private:
  std::uint32_t below(std::uint32_t bound) { return random_() % bound; }
  bool coin() { return below(2) == 0; }
  std::uint32_t any_size_u32();  // small and large ones alike
  std::vector<std::uint8_t> bytes(std::size_t count);
  std::string text(std::size_t bytes_max);
  template <typename Id>
  Id id();
  std::optional<PublicKey> signer();
  proto::PeerEndpoint endpoint();
  proto::State state();
  proto::Block block();
  proto::CheckRequest check_request();
  proto::CheckReply check_reply();
  proto::LeafRequest leaf_request();
  proto::LeafReply leaf_reply();
  proto::Nonce nonce();
  proto::Epoch epoch();
  proto::EpochRequest epoch_request();
  proto::EpochProof epoch_proof();
  proto::BlockClaim claim();
  proto::FalseClaim false_claim();
  proto::ManifestPart manifest_part();

  std::mt19937 random_;
};

}  // namespace firn::test
