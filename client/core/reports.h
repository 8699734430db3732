// What a neighbour says it has received of others, as its States tell: what a source learns by it
// which of its neighbours pass on what they are given.
#pragma once

#include <cstdint>
#include <vector>

#include "proto/messages.h"

namespace firn::core {

class Reports {
 public:
  void take(std::vector<proto::Received>&& received) {
    if (!received.empty()) received_ = std::move(received);
  }
  // Innovative blocks, in all, from the peer whose id begins so; -1: it says nothing of that peer.
  std::int64_t from(std::uint64_t peer_prefix) const {
    for (const proto::Received& entry : received_) {
      if (entry.peer_prefix == peer_prefix) return entry.blocks;
    }
    return -1;
  }
  bool any() const { return !received_.empty(); }

 private:
  std::vector<proto::Received> received_;
};

}  // namespace firn::core
