// Which entry of a full table gives way to a newcomer. Entries belong to the address that they came
// from; shares are counted by prefix (an IPv4 /24, an IPv6 /48), and within a prefix by network (an
// IPv4 address, an IPv6 /64):
//
//   - an entry of the largest network of the largest prefix goes, where the newcomer's own would
//     still hold less after it came; else the newcomer is turned away;
//   - there, of the entries that nothing proves the one longest there; if all are proven, of those.
//
// So no address is banned, one alone may fill the table, and gives it back as others come. What an
// entry weighs is its owner's to say: less where others vouch for it.
#pragma once

#include <cstdint>
#include <list>
#include <set>
#include <string>
#include <unordered_map>
#include <utility>

#include "proto/base/address.h"

namespace firn::tracker {

struct Where {
  std::string prefix, network;
};
inline Where where_of(const std::string& ip) {
  return {prefix_of(ip), network_of(ip)};
}

// One thread.
template <class Item>
class FairShares {
 public:
  // Of an entry that nothing proves. Has all divisors up to 8.
  static constexpr std::uint32_t kWhole = 840;

 private:
  struct Network;
  struct Entry {
    Item item;
    Network* network;
    std::uint32_t weight;
  };

 public:
  // Names an entry; stays what it is until remove().
  using Place = typename std::list<Entry>::iterator;

  FairShares() = default;
  FairShares(const FairShares&) = delete;
  FairShares& operator=(const FairShares&) = delete;

  Place add(const Where& where, Item item, std::uint32_t weight = kWhole) {
    const auto prefix = prefixes_.try_emplace(where.prefix).first;
    const auto network = prefix->second.networks.try_emplace(where.network).first;
    network->second.name = &network->first;
    network->second.prefix = &*prefix;
    const Place place = list_of(network->second, weight)
                            .insert(list_of(network->second, weight).end(),
                                    {std::move(item), &network->second, weight});
    weigh(network->second, 0, weight);
    return place;
  }
  void remove(Place place) {
    Network& network = *place->network;
    const std::uint32_t weight = place->weight;
    list_of(network, weight).erase(place);
    weigh(network, weight, 0);
  }
  // As the newest.
  void touch(Place place) {
    auto& list = list_of(*place->network, place->weight);
    list.splice(list.end(), list, place);
  }
  // Less than kWhole: proven.
  void reweigh(Place place, std::uint32_t weight) {
    if (place->weight == weight) return;
    Network& network = *place->network;
    const std::uint32_t before = std::exchange(place->weight, weight);
    auto& from = list_of(network, before);
    auto& to = list_of(network, weight);
    if (&from != &to) to.splice(to.end(), from, place);
    weigh(network, before, weight);
  }

  // What goes for an entry of `newcomer`; null: the newcomer is turned away.
  const Item* gives_way(const Where& newcomer) const {
    if (by_weight_.empty()) return nullptr;
    const auto& [most, name] = *by_weight_.rbegin();
    const Prefix& prefix = prefixes_.at(name);
    const auto& [most_there, network_name] = *prefix.by_weight.rbegin();
    if (name == newcomer.prefix) {
      const auto own = prefix.networks.find(newcomer.network);
      const std::uint64_t held = own == prefix.networks.end() ? 0 : own->second.weight;
      if (held + kWhole >= most_there) return nullptr;
    } else {
      const auto own = prefixes_.find(newcomer.prefix);
      const std::uint64_t held = own == prefixes_.end() ? 0 : own->second.weight;
      if (held + kWhole >= most) return nullptr;
    }
    const Network& largest = prefix.networks.at(network_name);
    return &(largest.unproven.empty() ? largest.proven : largest.unproven).front().item;
  }

 private:
  using Order = std::set<std::pair<std::uint64_t, std::string>>;  // weight and name
  struct Prefix {
    std::uint64_t weight = 0;
    std::unordered_map<std::string, Network> networks;
    Order by_weight;
  };
  struct Network {
    const std::string* name = nullptr;
    std::pair<const std::string, Prefix>* prefix = nullptr;
    std::uint64_t weight = 0;
    std::list<Entry> unproven, proven;  // those longest there first
  };

  static std::list<Entry>& list_of(Network& network, std::uint32_t weight) {
    return weight == kWhole ? network.unproven : network.proven;
  }
  // An entry of the network weighs `now` and no longer `before`. Forgets what holds nothing.
  void weigh(Network& network, std::uint32_t before, std::uint32_t now) {
    auto& [name, prefix] = *network.prefix;
    change(prefix.by_weight, *network.name, network.weight, before, now);
    change(by_weight_, name, prefix.weight, before, now);
    if (network.weight == 0) prefix.networks.erase(prefix.networks.find(*network.name));
    if (prefix.weight == 0) prefixes_.erase(prefixes_.find(name));
  }
  static void change(Order& order, const std::string& name, std::uint64_t& weight,
                     std::uint32_t before, std::uint32_t now) {
    auto node = weight > 0 ? order.extract({weight, name}) : typename Order::node_type();
    weight = weight - before + now;
    if (weight == 0) return;
    if (node.empty()) {
      order.insert({weight, name});
    } else {
      node.value().first = weight;
      order.insert(std::move(node));
    }
  }

  std::unordered_map<std::string, Prefix> prefixes_;
  Order by_weight_;
};

}  // namespace firn::tracker
