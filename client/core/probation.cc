#include "client/core/probation.h"

#include <algorithm>

#include "client/core/policy/constants.h"
#include "proto/base/address.h"

namespace firn::core {

void Probation::convicted(const PeerId& id, const std::string& ip, TimeUs now) {
  const TimeUs since = now - policy::kProbationMemory;
  for (auto& [network, guilty] : networks_)
    std::erase_if(guilty, [since](const auto& one) { return one.second < since; });
  std::erase_if(networks_, [](const auto& one) { return one.second.empty(); });
  const std::string network = network_of(ip);
  if (!networks_.contains(network) && !make_room()) return;
  Guilty& guilty = networks_[network];
  guilty[id] = now;
  // More say no more: the longest known gives way.
  if (guilty.size() > policy::kProbationIdentities) {
    guilty.erase(std::min_element(guilty.begin(), guilty.end(), [](const auto& a, const auto& b) {
      return a.second < b.second;
    }));
  }
}

void Probation::acquitted(const PeerId& id) {
  for (auto& [network, guilty] : networks_) guilty.erase(id);
  std::erase_if(networks_, [](const auto& one) { return one.second.empty(); });
}

// One with fewer convicted peers than matter gives way, that of which the latest is longest ago.
bool Probation::make_room() {
  if (networks_.size() < policy::kProbationNetworksMax) return true;
  const auto latest = [](const Guilty& guilty) {
    TimeUs at = 0;
    for (const auto& [id, when] : guilty) at = std::max(at, when);
    return at;
  };
  auto oldest = networks_.end();
  for (auto it = networks_.begin(); it != networks_.end(); ++it) {
    if (it->second.size() >= policy::kProbationIdentities) continue;
    if (oldest == networks_.end() || latest(it->second) < latest(oldest->second)) oldest = it;
  }
  if (oldest == networks_.end()) return false;
  networks_.erase(oldest);
  return true;
}

std::uint32_t Probation::rows_to_prove(const std::string& ip, TimeUs now) const {
  const auto known = networks_.find(network_of(ip));
  if (known == networks_.end()) return 0;
  const TimeUs since = now - policy::kProbationMemory;
  const auto guilty = std::count_if(known->second.begin(), known->second.end(),
                                    [since](const auto& one) { return one.second >= since; });
  return static_cast<std::size_t>(guilty) >= policy::kProbationIdentities ? policy::kProbationRows
                                                                          : 0;
}

}  // namespace firn::core
