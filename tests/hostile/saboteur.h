// The part of a hostile peer that is not honest: it stands between a swarm core and the network,
// and changes what the core says and hears. The core itself is the production one, so that the peer
// keeps to the protocol in all else. The owner brings each message past it.
//
// Payloads are changed as linear combinations over GF(2^8), so that simulations whose payloads are
// all zeros (true) or not (false) may use it as well.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "client/core/base/types.h"
#include "codec/random.h"
#include "proto/content/shape.h"
#include "proto/messages.h"
#include "tests/hostile/deeds.h"

namespace firn::hostile {

class Saboteur {
 public:
  Saboteur(const Deeds& deeds, const Shape& shape, std::uint64_t seed)
      : deeds_(deeds), shape_(shape), random_(seed, 0x7361626f) {}

  const Deeds& deeds() const { return deeds_; }
  // The content's shape, of one that was made before it was known: before it sends anything of the
  // content.
  void learn(const Shape& shape) { shape_ = shape; }
  // The first 8 bytes of the id of a peer that it speaks for; itself is one.
  void befriend(std::uint64_t peer_prefix) { friends_.emplace_back(peer_prefix, 0); }

  // A block with its payload, about to be sent. True: what leaves is false.
  bool sends(proto::Block& block, core::TimeUs now);
  void says(proto::State& state);
  void says(core::PeerKey to, proto::CheckReply& reply);
  // A message for the core: a State that rides on a block as well.
  void hears(core::PeerKey from, proto::PeerMessage& message);

  // One that believes all (deeds.colludes) among the production's parts, which judge rows: its core
  // hears of no authority that could, and of no neighbour that takes proven rows alone; and all of
  // its blocks are answered for. Simulations have disks that believe instead.
  void believes(proto::PeerMessage& heard) const;
  void vouches(proto::Block& sent) const { sent.unproven &= !deeds_.colludes; }

 private:
  struct Sent {
    std::vector<std::uint8_t> vector;
    proto::Payload payload;
  };
  bool falsifies_now(core::TimeUs now);
  void falsify(proto::Block& block);
  void lower_rank(proto::Block& block);
  bool serves(core::PeerKey peer) const;

  const Deeds deeds_;
  Shape shape_;
  codec::CoefficientStream random_;
  std::map<std::uint32_t, std::vector<Sent>> sent_;  // the first of each generation
  // Of CheckRequests, by their sender and the generation.
  std::map<std::pair<core::PeerKey, std::uint32_t>, std::vector<std::uint8_t>> keys_;
  std::map<core::PeerKey, std::uint32_t> sums_told_;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> friends_;  // and the blocks made up for them
};

}  // namespace firn::hostile
