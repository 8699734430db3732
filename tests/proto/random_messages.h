// Random valid messages, the same for the same seed.
#pragma once

#include <cstddef>
#include <optional>
#include <random>
#include <variant>

#include "proto/messages.h"

namespace firn::test {

// Alternatives of PeerMessage before PassedOver, which is never sent.
inline constexpr std::size_t kSentKinds = std::variant_size_v<proto::PeerMessage> - 1;

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
  proto::ManifestPart manifest_part();

  std::mt19937 random_;
};

}  // namespace firn::test
