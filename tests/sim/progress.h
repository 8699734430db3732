// Watches a simulated network for peers that stand still: their rank has not changed for long
// although those they can reach, over connections that stand and through peers that work, together
// hold full rank of everything. Then one of them should have sent something.
#pragma once

#include <cstdint>
#include <vector>

#include "client/core/base/types.h"

namespace firn::sim {

class Network;

class Progress {
 public:
  // So long may honest peers stand still. Leases of the policy expire within
  // 5 s, a ban after 30; a block takes 0.13 s on the slowest link here, and a dozen peers may share
  // it.
  static constexpr core::TimeUs kPatience = 60 * core::kSecond;

  explicit Progress(Network& network) : network_(network) {}
  // Looks every second from now on, and notes the peers that stand still.
  void begin();

 private:
  struct Seen {
    std::uint64_t rank = 0;
    core::TimeUs since = 0;  // it, and that something could be had
  };
  void look();
  // Working honest peers that `peer` reaches, itself among them.
  std::vector<std::size_t> reachable(std::size_t peer) const;
  bool full_rank(const std::vector<std::size_t>& peers) const;

  Network& network_;
  std::vector<Seen> seen_;
};

}  // namespace firn::sim
