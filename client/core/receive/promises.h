// The sum, over all neighbours, of blocks granted and still to come: what a receiver has promised
// to take (leases.h). Neighbours that have stalled, or send little that is new, do not count. The
// sum is kept up to date, as every State needs it: call update() whenever something about a
// neighbour changes. That a neighbour stalls with time it finds out by itself.
#pragma once

#include <cstdint>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/core/neighbour/neighbour.h"

namespace firn::core {

class Promises {
 public:
  // A block of the neighbour has come, it was granted some, or another share of its blocks is new.
  void update(const Neighbour& n, TimeUs now);
  void neighbour_left(PeerKey peer);
  std::uint64_t sum(TimeUs now);

 private:
  struct Part {
    std::uint32_t blocks = 0;
    TimeUs stalls_after = 0;
    bool noted = false;  // in stalls_, for that time or an earlier one
  };
  using Stall = std::pair<TimeUs, PeerKey>;

  std::unordered_map<PeerKey, Part> parts_;
  std::priority_queue<Stall, std::vector<Stall>, std::greater<>> stalls_;
  std::uint64_t sum_ = 0;
};

}  // namespace firn::core
