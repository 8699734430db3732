// How much the word of each neighbour weighs in what a source is told of the others
// (contributions.h, spread.h). One machine may run any number of identities, so those of one
// address weigh together as one, and so do those of one prefix where neighbours come from several.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/core/neighbours.h"
#include "client/core/policy/constants.h"
#include "proto/base/address.h"

namespace firn::core {

class Voices {
 public:
  // Counts those that download. In one local network, and in swarms of few places, each address
  // counts (IPv6: each /64); else each prefix (/24, IPv6: /48).
  void review(const Neighbours& neighbours);
  // At most 1. Of a neighbour that has come since the last review: 1.
  double weight(PeerKey peer) const {
    const auto known = weights_.find(peer);
    return known == weights_.end() ? 1 : known->second;
  }

 private:
  std::unordered_map<PeerKey, double> weights_;
};

// What somebody says, and how much that weighs.
struct Said {
  double value = 0;
  double weight = 1;
};
// The value that this share of them, by weight, reach at least; 0 <= share < 1. Not empty.
double reached_by(std::vector<Said>& said, double share);

}  // namespace firn::core
