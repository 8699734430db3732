// A peer of a rival swarm; for the files of RivalSwarm alone.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "tests/sim/lab/rivals/rival_swarm.h"

namespace firn::sim {

struct RivalSwarm::Peer {
  std::uint32_t index = 0;
  LabPeerSpec spec;
  BlockMap blocks;
  bool here = false;
  bool sending = false;
  TimeUs downlink_free = 0;
  std::uint64_t rows = 0;         // of groups that are not complete
  std::vector<EndKey> ends = {};  // of its connections
  std::deque<EndKey> turns = {};  // with something asked for, the next one first
  std::size_t next_turn = 0;      // without pipeline: where in `ends` to look first
  LabPeerResult result = {};
};

}  // namespace firn::sim
