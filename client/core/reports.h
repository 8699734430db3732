// What a neighbour says it has received of others, as its States tell: what a source learns by it
// which of its neighbours pass on what they are given.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "proto/messages.h"

namespace firn::core {

class Reports {
 public:
  // The lists of a State. An empty list of convicted peers counts as well beside a report of
  // blocks: then its sender takes back what it said of others.
  void take(std::vector<proto::Received>&& received, std::vector<std::uint64_t>&& convicted) {
    if (!received.empty() || !convicted.empty()) convicted_ = std::move(convicted);
    if (!received.empty()) received_ = std::move(received);
  }
  // It says that this peer sent it a false block.
  bool convicts(std::uint64_t peer_prefix) const {
    return std::find(convicted_.begin(), convicted_.end(), peer_prefix) != convicted_.end();
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
  std::vector<std::uint64_t> convicted_;
};

}  // namespace firn::core
