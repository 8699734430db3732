// What a peer does once it has what it wants: stays as long as SeedPolicy says, and leaves.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/core/base/uplink.h"
#include "client/core/mesh/membership.h"
#include "client/core/receive/granting.h"
#include "client/core/rows/holdings.h"
#include "client/core/send/departure.h"
#include "proto/messages.h"

namespace firn::core {

class Seeding final : public MeshPart {
 public:
  Seeding(const MeshPart& mesh, const Uplink& uplink, const Holdings& holdings, Granting& granting)
      : MeshPart(mesh),
        uplink_(uplink),
        holdings_(holdings),
        granting_(granting),
        awaited_(context_.options.seeding.awaited) {}

  // This peer has had everything from the start.
  void begin_as_source();

  // --- what a departing source must know of blocks (departure.h) ---
  // Whether its vector is remembered.
  bool sent(const proto::Block& block, PeerKey peer);
  void not_made(PeerKey peer, std::uint32_t sequence);
  // Its State has been taken over.
  void told(const Neighbour& n);
  void neighbour_left(const Neighbour& n) override;

  // Two peers that need nothing have nothing to say to each other: they part. The neighbour is dead
  // afterwards if they do.
  void part_if_useless(Neighbour& n);

  // Leaves once this peer has done its duty.
  void step() override;
  // Leaves the swarm, for good.
  void leave();
  TimeUs next_due() override;

 private:
  bool may_depart();
  bool duty_done() const;
  void say_why();
  // When no block has gone out for as long as SeedPolicy::duration; never earlier than that.
  TimeUs idle_at() const;

  const Uplink& uplink_;
  const Holdings& holdings_;
  Granting& granting_;
  std::set<PeerKey> satisfied_;  // neighbours that need nothing more
  std::set<PeerId> receivers_;   // that have had everything; SeedPolicy::receivers at most
  std::vector<std::set<std::string>> awaited_;  // hosts of which no neighbour has had everything
  std::uint64_t blocks_seen_ = 0;               // of Uplink::blocks_sent, at fetched_at_
  TimeUs fetched_at_ = 0;
  std::optional<Departure> departure_;  // of a source that leaves when that is safe
  TimeUs departure_due_ = 0;
  bool departure_proven_ = false;
};

}  // namespace firn::core
