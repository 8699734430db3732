#include "client/core/policy/uplink_claims.h"

#include <algorithm>
#include <utility>

namespace firn::core::policy {

void UplinkClaims::replace(std::uint32_t old, std::uint32_t claim) {
  if (old == claim) return;
  if (old > 0) sorted_.erase(std::lower_bound(sorted_.begin(), sorted_.end(), old));
  if (claim > 0) sorted_.insert(std::lower_bound(sorted_.begin(), sorted_.end(), claim), claim);
}

void UplinkClaims::update(const Neighbour& n) {
  const std::uint32_t claim = n.holds.has_everything() ? 0 : n.holds.upload_kib();
  const auto known = of_.find(n.key);
  if (known == of_.end() && claim == 0) return;
  replace(std::exchange(of_[n.key], claim), claim);
}

void UplinkClaims::leaves(PeerKey peer) {
  const auto known = of_.find(peer);
  if (known == of_.end()) return;
  replace(known->second, 0);
  of_.erase(known);
}

}  // namespace firn::core::policy
