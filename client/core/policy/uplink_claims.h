// What downloading neighbours say of their uplinks, and what is usual among them.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "client/core/neighbour.h"

namespace firn::core::policy {

class UplinkClaims {
 public:
  // The neighbour may say something else than before.
  void update(const Neighbour& n);
  void leaves(PeerKey peer);
  // The median, KiB a second; 0: nobody has said anything. Not the mean: one neighbour that claims
  // enough would make every other look like one that passes nothing on.
  double usual() const {
    return sorted_.empty() ? 0 : static_cast<double>(sorted_[sorted_.size() / 2]);
  }

 private:
  void replace(std::uint32_t old, std::uint32_t claim);

  std::unordered_map<PeerKey, std::uint32_t> of_;
  std::vector<std::uint32_t> sorted_;
};

}  // namespace firn::core::policy
