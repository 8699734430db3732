// What one simulated peer is given: its link, what it knows, and how it behaves.
#pragma once

#include <cstdint>
#include <vector>

#include "client/core/base/types.h"
#include "tests/hostile/deeds.h"
#include "tests/sim/event_queue.h"

namespace firn::sim {

struct LinkSpeed {
  double up = 1e6;        // bytes a second
  double down = 0;        // 0: no limit
  TimeUs delay = 20'000;  // one way, half of it for each end
};

struct PeerSpec {
  LinkSpeed link = {};
  bool source = false;  // has everything from the start
  bool speaks = true;   // a source has the authority's certificate
  bool listens = true;
  bool tracker = true;
  bool peer_exchange = true;
  hostile::Deeds deeds = {};            // it spoils the swarm
  bool false_sums = false;              // speaks for the authority, and tells false check sums
  bool lies = false;                    // claims to have everything, sends noise
  bool deaf = false;                    // reads nothing once it is connected
  std::vector<std::size_t> knows = {};  // peers given by hand
  core::SeedPolicy seeding = {core::SeedPolicy::Kind::kForever, 0, 0};
  bool dense = false;
  bool link_only = false;      // begins without the manifest
  TimeUs joins = 0;            // when it starts
  TimeUs worker_delay = 0;     // making a block takes so long; States overtake it
  double decode_fails = 0;     // share of decodes whose rows cannot be read back
  TimeUs origin = 0;           // an origin gives it a generation in so long; 0: it knows none
  double origin_fails = 0;     // share of them that the origin does not give
  std::uint64_t up_limit = 0;  // as Options
  std::uint64_t down_limit = 0;
  std::uint64_t memory_bytes = 128u << 20;
  std::uint64_t spool_bytes = 0;  // room for rows, beside the content; 0: for all
  // One of those that spoil the swarm: it need not complete, and is not checked.
  bool hostile() const { return lies || deaf || false_sums || !deeds.none(); }
};

}  // namespace firn::sim
