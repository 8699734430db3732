#include "client/core/mesh/predecessors.h"

#include <algorithm>

#include "client/core/base/constants.h"
#include "client/core/mesh/eviction.h"
#include "proto/base/address.h"

namespace firn::core {

void Predecessors::greeted(Neighbour& n) const {
  const auto known = networks_.find(network_of(n.contact.ip()));
  if (known == networks_.end() || context_.now - known->second.at >= kOffenceMemory) return;
  n.begin_with(known->second.owed, known->second.barren);
}

void Predecessors::neighbour_left(const Neighbour& n) {
  const std::uint64_t given = n.pipe.blocks_sent();
  if (static_cast<double>(given) < kGivenMin || n.holds.has_everything()) return;
  const std::string network = network_of(n.contact.ip());
  // A complete peer needs nothing, so nobody brings it anything.
  const bool guilty = life_.complete() ? n.low_worth() : n.traffic.blocks_innovative() == 0;
  if (!guilty) {
    if (life_.complete()) networks_.erase(network);
    return;
  }
  forget();
  Left& left = networks_[network];
  life_.complete() ? void(++left.barren) : void(left.owed += given);
  left.at = context_.now;
}

// The one of which the last peer left first gives way.
void Predecessors::forget() {
  std::erase_if(networks_,
                [this](const auto& one) { return context_.now - one.second.at >= kOffenceMemory; });
  if (networks_.size() < kNetworksMax) return;
  networks_.erase(
      std::min_element(networks_.begin(), networks_.end(),
                       [](const auto& a, const auto& b) { return a.second.at < b.second.at; }));
}

}  // namespace firn::core
