#include "client/core/mesh/eviction.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "proto/base/address.h"

namespace firn::core {
namespace {

// For how long it has done nothing; 0 where it has not had its time.
TimeUs idle_time(const Neighbour& n, TimeUs now) {
  const TimeUs idle = now - n.idle_since();
  if (!n.contact.greeted()) return idle >= kFirstMessageTime ? idle : 0;
  // It has granted credit and wants something: it may be our uplink that is slow, or what it wants
  // may not have reached us.
  const bool waits = n.may_send() && n.holds.asks();
  return idle >= (waits ? kIdleTime : kIdleTimeCrowded) ? idle : 0;
}

// The largest group; of equals the first.
template <typename Groups>
typename Groups::iterator largest(Groups& groups) {
  return std::max_element(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.second.size() < b.second.size();
  });
}

std::uint64_t moved(const Neighbour& n) {
  return n.traffic.blocks_innovative() + n.pipe.blocks_sent();
}

using Groups = std::map<std::string, std::vector<Neighbour*>>;

// The largest group if it has at least two more than the newcomer's, or is the newcomer's.
std::vector<Neighbour*>* more_than_its_share(Groups& groups, const std::string& newcomer) {
  const auto most = largest(groups);
  const auto own = groups.find(newcomer);
  const std::size_t held = own == groups.end() ? 0 : own->second.size();
  if (most == groups.end()) return nullptr;
  if (held + 1 < most->second.size()) return &most->second;
  return held == most->second.size() ? &own->second : nullptr;
}

}  // namespace

// First the neighbour that has been idle longest. A network whose neighbour had to go so gets no
// place so again for a while: else those that do nothing would only take turns. Then one of the
// prefix that holds most places if the newcomer's has less than its share, and of its networks of
// the one that holds most.
Neighbour* Eviction::gives_way(Neighbours& neighbours, const std::string& ip, bool spares_called,
                               TimeUs now) {
  const std::string network = network_of(ip);
  if (!has_idled_away(network, now)) {
    Neighbour* idlest = nullptr;
    for (Neighbour& n : neighbours) {
      if (idle_time(n, now) > (idlest ? idle_time(*idlest, now) : 0)) idlest = &n;
    }
    if (idlest) {
      note_idled_away(network_of(idlest->contact.ip()), now);
      return idlest;
    }
  }
  Groups prefixes;
  for (Neighbour& n : neighbours) {
    if (spares_called && n.contact.outgoing()) continue;
    prefixes[prefix_of(n.contact.ip())].push_back(&n);
  }
  const std::vector<Neighbour*>* prefix = more_than_its_share(prefixes, prefix_of(ip));
  if (!prefix) return nullptr;
  Groups networks;
  for (Neighbour* n : *prefix) networks[network_of(n->contact.ip())].push_back(n);
  const bool within = prefix_of(prefix->front()->contact.ip()) == prefix_of(ip);
  auto most = largest(networks);
  if (within) {
    const auto own = networks.find(network);
    const std::size_t held = own == networks.end() ? 0 : own->second.size();
    if (held + 1 >= most->second.size()) return nullptr;
  }
  return *std::min_element(most->second.begin(), most->second.end(),
                           [](const auto* a, const auto* b) { return moved(*a) < moved(*b); });
}

Neighbour* Eviction::of_least_use(Neighbours& neighbours, TimeUs now) {
  const auto rank = [](const Neighbour& n) { return std::pair(moved(n), n.contact.opened_at()); };
  Neighbour* least = nullptr;
  for (Neighbour& n : neighbours) {
    const bool young = now - n.contact.opened_at() < kIdleTimeCrowded;
    if (!young && !n.contact.outgoing() && (!least || rank(n) < rank(*least))) least = &n;
  }
  return least;
}

bool Eviction::has_idled_away(const std::string& network, TimeUs now) const {
  const auto it = idled_away_.find(network);
  return it != idled_away_.end() && now < it->second;
}

void Eviction::note_idled_away(const std::string& network, TimeUs now) {
  if (idled_away_.size() >= kNetworksMax) {
    std::erase_if(idled_away_, [now](const auto& one) { return one.second <= now; });
    if (idled_away_.size() >= kNetworksMax) idled_away_.erase(idled_away_.begin());
  }
  idled_away_[network] = now + kIdledAwayTime;
}

}  // namespace firn::core
