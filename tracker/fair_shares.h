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
//
// A full table has an entry here for each of its own: 68 bytes of an entry that is alone in its
// prefix, 20 of one more in the same network.
#pragma once

#include <cstdint>
#include <utility>

#include "tracker/number_heap.h"
#include "tracker/number_index.h"
#include "tracker/number_list.h"
#include "tracker/number_ring.h"
#include "tracker/origin.h"
#include "tracker/seeded_hash.h"

namespace firn::tracker {

// One thread.
template <class Item>
class FairShares {
 public:
  // Of an entry that nothing proves. Has all divisors up to 8.
  static constexpr std::uint32_t kWhole = 840;
  // Names an entry; stays what it is until remove().
  using Place = std::uint32_t;

  FairShares() : FairShares(0) {}
  explicit FairShares(std::uint64_t seed) : hash_(seed) {}  // of its hash tables
  FairShares(const FairShares&) = delete;
  FairShares& operator=(const FairShares&) = delete;

  Place add(const Origin& origin, Item item, std::uint32_t weight = kWhole) {
    const std::uint32_t network = network_for(origin);
    const Place place = entries_.take();
    Entry& entry = entries_[place];
    entry.item = std::move(item);
    entry.network = network;
    entry.weight = weight;
    list_of(networks_[network], weight).push_back(place, entries_);
    weigh(network, 0, weight);
    return place;
  }
  void remove(Place place) {
    const std::uint32_t network = entries_[place].network, weight = entries_[place].weight;
    list_of(networks_[network], weight).remove(place, entries_);
    entries_.give(place);
    weigh(network, weight, 0);
  }
  // As the newest.
  void touch(Place place) {
    const Entry& entry = entries_[place];
    list_of(networks_[entry.network], entry.weight).move_to_back(place, entries_);
  }
  // Less than kWhole: proven.
  void reweigh(Place place, std::uint32_t weight) {
    Entry& entry = entries_[place];
    if (entry.weight == weight) return;
    const std::uint32_t before = std::exchange(entry.weight, weight);
    NumberRing& from = list_of(networks_[entry.network], before);
    NumberRing& to = list_of(networks_[entry.network], weight);
    if (&from != &to) {
      from.remove(place, entries_);
      to.push_back(place, entries_);
    }
    weigh(entry.network, before, weight);
  }

  // What goes for an entry of `newcomer`; null: the newcomer is turned away.
  const Item* gives_way(const Origin& newcomer) const {
    if (holders_.size() == 0) return nullptr;
    const std::uint32_t top = holders_.top();
    const Network& largest = networks_[is_prefix(top) ? prefix(top).networks.top() : top];
    const bool same_prefix = Origin::of_network(largest.key).prefix() == newcomer.prefix();
    const std::uint64_t most = same_prefix ? largest.weight : weight_of(top);
    const std::uint32_t own = same_prefix ? find_network(newcomer) : find_holder(newcomer);
    if ((own == kNone ? 0 : weight_of(own)) + kWhole >= most) return nullptr;
    const NumberRing& list = largest.unproven.empty() ? largest.proven : largest.unproven;
    return &entries_[list.first(entries_)].item;
  }

 private:
  struct Entry {
    Item item{};
    std::uint32_t network = kNone;
    std::uint32_t weight = 0;
    RingLinks ring{};
    std::uint32_t& free_link() { return ring.next; }
  };
  struct Network {
    std::uint64_t key = 0;
    std::uint64_t weight = 0;
    std::uint32_t prefix = kNone;  // kNone: alone of its prefix
    std::uint32_t link = kNone;    // in index_, or, alone of its prefix, in holder_index_
    std::uint32_t place = 0;       // among the networks of its prefix, or in holders_
    NumberRing unproven, proven;   // those longest there first
    std::uint32_t& free_link() { return link; }
  };
  // One of several networks.
  struct Prefix {
    std::uint64_t weight = 0;
    NumberHeap<NumberList> networks;
    std::uint32_t link = kNone, place = 0;
    std::uint32_t& free_link() { return link; }
  };

  // A holder is all that holds entries in one prefix: a network that is alone there, or, with
  // kOtherPool, a prefix.
  static bool is_prefix(std::uint32_t holder) { return (holder & kOtherPool) != 0; }
  Prefix& prefix(std::uint32_t holder) { return prefixes_[holder & ~kOtherPool]; }
  const Prefix& prefix(std::uint32_t holder) const { return prefixes_[holder & ~kOtherPool]; }
  std::uint64_t weight_of(std::uint32_t holder) const {
    return is_prefix(holder) ? prefix(holder).weight : networks_[holder].weight;
  }
  std::uint64_t key_of(std::uint32_t holder) const {
    const std::uint32_t network = is_prefix(holder) ? prefix(holder).networks.top() : holder;
    return Origin::of_network(networks_[network].key).prefix();
  }

  struct HolderOrder {
    FairShares& shares;
    bool before(std::uint32_t a, std::uint32_t b) const {
      const std::uint64_t weight_a = shares.weight_of(a), weight_b = shares.weight_of(b);
      return weight_a != weight_b ? weight_a > weight_b : shares.key_of(a) > shares.key_of(b);
    }
    std::uint32_t& place(std::uint32_t holder) const {
      return is_prefix(holder) ? shares.prefix(holder).place : shares.networks_[holder].place;
    }
  };
  struct NetworkOrder {
    NumberPool<Network>& networks;
    bool before(std::uint32_t a, std::uint32_t b) const {
      return std::pair(networks[a].weight, networks[a].key) >
             std::pair(networks[b].weight, networks[b].key);
    }
    std::uint32_t& place(std::uint32_t network) const { return networks[network].place; }
  };
  template <class Shares>
  struct HolderChain {
    Shares& shares;
    auto& link(std::uint32_t holder) const {
      return is_prefix(holder) ? shares.prefix(holder).link : shares.networks_[holder].link;
    }
    std::uint64_t hash(std::uint32_t holder) const { return shares.hash_of(shares.key_of(holder)); }
  };
  template <class Shares>
  struct NetworkChain {
    Shares& shares;
    auto& link(std::uint32_t network) const { return shares.networks_[network].link; }
    std::uint64_t hash(std::uint32_t network) const {
      return shares.hash_of(shares.networks_[network].key);
    }
  };

  std::uint64_t hash_of(std::uint64_t key) const { return hash_(std::array{key}); }
  std::uint32_t find_holder(const Origin& origin) const {
    return holder_index_.find(
        hash_of(origin.prefix()), HolderChain<const FairShares>{*this},
        [&](std::uint32_t holder) { return key_of(holder) == origin.prefix(); });
  }
  std::uint32_t find_network(const Origin& origin) const {
    const auto matches = [&](std::uint32_t network) {
      return networks_[network].key == origin.network();
    };
    const std::uint32_t holder = find_holder(origin);
    if (holder == kNone) return kNone;
    if (!is_prefix(holder)) return matches(holder) ? holder : kNone;
    return index_.find(hash_of(origin.network()), NetworkChain<const FairShares>{*this}, matches);
  }

  // Makes it if there is none.
  std::uint32_t network_for(const Origin& origin) {
    const std::uint32_t known = find_network(origin);
    if (known != kNone) return known;
    std::uint32_t holder = find_holder(origin);
    const std::uint32_t added = networks_.take();
    networks_[added].key = origin.network();
    if (holder == kNone) {
      holder_index_.insert(added, HolderChain<FairShares>{*this});
      holders_.push(added, HolderOrder{*this});
    } else {
      if (!is_prefix(holder)) holder = make_prefix(holder);
      join(added, holder);
    }
    return added;
  }
  void join(std::uint32_t network, std::uint32_t holder) {
    networks_[network].prefix = holder & ~kOtherPool;
    index_.insert(network, NetworkChain<FairShares>{*this});
    prefix(holder).networks.push(network, NetworkOrder{networks_});
  }
  std::uint32_t make_prefix(std::uint32_t network) {
    const std::uint32_t made = prefixes_.take() | kOtherPool;
    prefix(made).weight = networks_[network].weight;
    holders_.replace(network, made, HolderOrder{*this});
    holder_index_.replace(network, made, HolderChain<FairShares>{*this});
    join(network, made);
    return made;
  }
  // Of one network that is left.
  void dissolve(std::uint32_t holder) {
    const std::uint32_t network = prefix(holder).networks.top();
    index_.remove(network, NetworkChain<FairShares>{*this});
    networks_[network].prefix = kNone;
    holders_.replace(holder, network, HolderOrder{*this});
    holder_index_.replace(holder, network, HolderChain<FairShares>{*this});
    prefixes_.give(holder & ~kOtherPool);
  }

  static NumberRing& list_of(Network& network, std::uint32_t weight) {
    return weight == kWhole ? network.unproven : network.proven;
  }
  // An entry of the network weighs `now` and no longer `before`. Forgets what holds nothing.
  void weigh(std::uint32_t number, std::uint32_t before, std::uint32_t now) {
    Network& network = networks_[number];
    network.weight = network.weight - before + now;
    if (network.prefix == kNone) {
      if (network.weight > 0) return holders_.update(number, HolderOrder{*this});
      holders_.remove(number, HolderOrder{*this});
      holder_index_.remove(number, HolderChain<FairShares>{*this});
      return networks_.give(number);
    }
    const std::uint32_t holder = network.prefix | kOtherPool;
    NumberHeap<NumberList>& networks = prefix(holder).networks;
    prefix(holder).weight = prefix(holder).weight - before + now;
    holders_.update(holder, HolderOrder{*this});
    if (network.weight > 0) return networks.update(number, NetworkOrder{networks_});
    networks.remove(number, NetworkOrder{networks_});
    index_.remove(number, NetworkChain<FairShares>{*this});
    networks_.give(number);
    if (networks.size() == 1) dissolve(holder);
  }

  const SeededHash hash_;
  NumberPool<Entry> entries_;
  NumberPool<Network> networks_;
  NumberPool<Prefix> prefixes_;
  NumberIndex index_;         // networks that are not alone of their prefix
  NumberIndex holder_index_;  // holders by prefix
  NumberHeap<ChunkedArray<std::uint32_t>> holders_;
};

}  // namespace firn::tracker
