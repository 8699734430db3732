// What SwarmTable does, without its tables: lists and maps that are looked through from end to end.
#pragma once

#include <algorithm>
#include <iterator>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "proto/base/address.h"
#include "tracker/registry.h"

namespace firn::tracker::test {

// What fair_shares.h says.
template <class Item>
class PlainShares {
 public:
  static constexpr std::uint32_t kWhole = 840;

  void add(const Item& item, const std::string& ip) { entries_[item] = {ip, kWhole, next_++}; }
  void remove(const Item& item) { entries_.erase(item); }
  void touch(const Item& item) { entries_.at(item).order = next_++; }
  void reweigh(const Item& item, std::uint32_t weight) {
    Entry& entry = entries_.at(item);
    if ((entry.weight == kWhole) != (weight == kWhole)) entry.order = next_++;
    entry.weight = weight;
  }
  std::optional<Item> gives_way(const std::string& ip) const {
    std::map<std::string, std::uint64_t> prefixes;
    for (const auto& [item, entry] : entries_) prefixes[prefix_of(entry.ip)] += entry.weight;
    const auto largest = most(prefixes);
    if (!largest) return std::nullopt;
    std::map<std::string, std::uint64_t> networks;
    for (const auto& [item, entry] : entries_)
      if (prefix_of(entry.ip) == *largest) networks[network_of(entry.ip)] += entry.weight;
    const std::string network = *most(networks);
    const bool same = prefix_of(ip) == *largest;
    if (same && networks[network_of(ip)] + kWhole >= networks[network]) return std::nullopt;
    if (!same && prefixes[prefix_of(ip)] + kWhole >= prefixes[*largest]) return std::nullopt;
    std::optional<std::pair<bool, std::uint64_t>> first;
    std::optional<Item> leaving;
    for (const auto& [item, entry] : entries_) {
      if (prefix_of(entry.ip) != *largest || network_of(entry.ip) != network) continue;
      const std::pair order(entry.weight != kWhole, entry.order);
      if (first && *first < order) continue;
      first = order;
      leaving = item;
    }
    return leaving;
  }

 private:
  struct Entry {
    std::string ip;
    std::uint32_t weight = kWhole;
    std::uint64_t order = 0;
  };
  // The last of equal ones.
  static std::optional<std::string> most(const std::map<std::string, std::uint64_t>& weights) {
    std::optional<std::string> name;
    std::uint64_t weight = 0;
    for (const auto& [other, its] : weights) {
      if (its < weight) continue;
      weight = its;
      name = other;
    }
    return name;
  }

  std::map<Item, Entry> entries_;
  std::uint64_t next_ = 0;
};

// Public are the facts that a test compares.
class PlainTable {
 public:
  struct Known {
    PeerKey key;
    Peer peer;
    Time seen{};
    bool is_listed = false;
    bool is_counted = false;
    const std::string& ip() const { return peer.endpoint.ip; }
  };
  using Peers = std::list<Known>;

  explicit PlainTable(const RegistryLimits& limits) : limits_(limits) {}

  Peers peers;                // last announced comes last
  std::vector<PeerKey> gone;  // since a test emptied it

  AnnounceOutcome announce(const ContentId& content, const Peer& peer, Time now, bool* changed) {
    if (counts_shares()) count_some();
    const PeerKey key(content, peer.endpoint.id);
    auto found = find(key);
    const bool known = found != peers.end();
    if (known && found->peer == peer && (found->is_listed || peer.endpoint.port == 0)) {
      renew(found, now);
      return AnnounceOutcome::kKept;
    }
    if (!known) {
      const AnnounceOutcome room = make_room(content, peer.endpoint.ip);
      if (room != AnnounceOutcome::kKept) return room;
    }
    *changed = !known || found->peer != peer;
    if (known) {
      if (found->is_counted) shares_.remove(key);
      if (swarm_shares_.contains(content)) swarm_shares_.at(content).shares.remove(key.second);
      move_to_newest(found);
    } else {
      if (prefixes_of(content) == 0) content_shares_.add(content, peer.endpoint.ip);
      found = peers.insert(peers.end(), {key, {}, {}, false, false});
    }
    found->is_listed = false;
    found->is_listed = peer.endpoint.port != 0 && listed(content, network_of(peer.endpoint.ip)) <
                                                      limits_.listed_per_network_max;
    found->peer = peer;
    found->seen = now;
    found->is_counted = counts_shares();
    if (found->is_counted) shares_.add(key, found->ip());
    if (!found->is_counted && uncounted_ == peers.end()) uncounted_ = found;
    if (swarm_shares_.contains(content))
      swarm_shares_.at(content).shares.add(key.second, found->ip());
    weigh(content);
    return AnnounceOutcome::kKept;
  }
  bool leave(const PeerKey& key) {
    const auto found = find(key);
    if (found == peers.end()) return false;
    const ContentId content = key.first;
    if (uncounted_ == found) ++uncounted_;
    if (found->is_counted) shares_.remove(found->key);
    const auto swarm = swarm_shares_.find(content);
    if (swarm != swarm_shares_.end()) swarm->second.shares.remove(found->key.second);
    peers.erase(found);
    if (swarm != swarm_shares_.end() && size(content) <= swarm->second.until)
      swarm_shares_.erase(swarm);
    if (size(content) > 0) {
      weigh(content);
    } else {
      content_shares_.remove(content);
    }
    return true;
  }
  void expire(Time before) {
    while (!peers.empty() && peers.front().seen < before) forget(peers.front().key);
  }

  Peers::iterator find(const PeerKey& key) {
    return std::ranges::find_if(peers, [&](const Known& one) { return one.key == key; });
  }
  std::vector<Known> of(const ContentId& content) const {
    std::vector<Known> all;
    std::ranges::copy_if(peers, std::back_inserter(all),
                         [&](const Known& one) { return one.key.first == content; });
    return all;
  }
  std::set<ContentId> contents() const {
    std::set<ContentId> all;
    for (const Known& one : peers) all.insert(one.key.first);
    return all;
  }
  SwarmCounts counts(const ContentId& content) const {
    SwarmCounts counts;
    for (const Known& one : of(content))
      ++(one.peer.complete ? counts.complete : counts.incomplete);
    return counts;
  }

 private:
  struct SwarmShares {
    PlainShares<PeerId> shares;
    std::size_t until = 0;
  };

  std::size_t size(const ContentId& content) const { return of(content).size(); }
  std::size_t prefixes_of(const ContentId& content) const {
    std::set<std::string> prefixes;
    for (const Known& one : of(content)) prefixes.insert(prefix_of(one.ip()));
    return prefixes.size();
  }
  std::size_t listed(const ContentId& content, const std::string& network) const {
    std::size_t count = 0;
    for (const Known& one : of(content)) count += one.is_listed && network_of(one.ip()) == network;
    return count;
  }
  bool counts_shares() const {
    const std::size_t spare = std::max(limits_.peer_count_max / 4, limits_.peer_places_spare);
    return peers.size() + spare >= limits_.peer_count_max;
  }
  void count(Known& one) {
    shares_.add(one.key, one.ip());
    one.is_counted = true;
  }
  void count_some() {
    for (int i = 0; i < 4 && uncounted_ != peers.end(); ++i, ++uncounted_)
      if (!uncounted_->is_counted) count(*uncounted_);
  }
  void move_to_newest(Peers::iterator peer) {
    if (uncounted_ == peer) ++uncounted_;
    peers.splice(peers.end(), peers, peer);
  }
  void renew(Peers::iterator peer, Time now) {
    const auto& [content, id] = peer->key;
    peer->seen = now;
    if (swarm_shares_.contains(content)) swarm_shares_.at(content).shares.touch(id);
    move_to_newest(peer);
    if (peer->is_counted) return shares_.touch(peer->key);
    if (counts_shares()) return count(*peer);
    if (uncounted_ == peers.end()) uncounted_ = peer;
  }
  void weigh(const ContentId& content) {
    const auto prefixes =
        std::clamp<std::uint32_t>(static_cast<std::uint32_t>(prefixes_of(content)), 1, 8);
    content_shares_.reweigh(content, PlainShares<ContentId>::kWhole / prefixes);
  }
  void forget(PeerKey key) {
    gone.push_back(key);
    leave(key);
  }
  AnnounceOutcome make_room(const ContentId& content, const std::string& ip) {
    if (size(content) == 0 && contents().size() >= limits_.content_count_max) {
      const auto leaving = content_shares_.gives_way(ip);
      if (!leaving) return AnnounceOutcome::kTrackerFull;
      for (const Known& one : of(*leaving)) forget(one.key);
    } else if (size(content) > 0 && size(content) >= limits_.peers_per_content_max) {
      const auto leaving = shares_of(content).gives_way(ip);
      if (!leaving) return AnnounceOutcome::kSwarmFull;
      forget({content, *leaving});
    }
    if (peers.size() < limits_.peer_count_max) return AnnounceOutcome::kKept;
    const auto leaving = shares_.gives_way(ip);
    if (!leaving) return AnnounceOutcome::kTrackerFull;
    forget(*leaving);
    return AnnounceOutcome::kKept;
  }
  PlainShares<PeerId>& shares_of(const ContentId& content) {
    const auto [known, fresh] = swarm_shares_.try_emplace(content);
    if (!fresh) return known->second.shares;
    std::vector<Known> by_age = of(content);
    std::ranges::sort(by_age, [](const Known& a, const Known& b) {
      return std::tie(a.seen, a.key.second) < std::tie(b.seen, b.key.second);
    });
    for (const Known& one : by_age) known->second.shares.add(one.key.second, one.ip());
    known->second.until = by_age.size() / 2;
    return known->second.shares;
  }

  const RegistryLimits limits_;
  Peers::iterator uncounted_ = peers.end();
  PlainShares<ContentId> content_shares_;
  PlainShares<PeerKey> shares_;
  std::map<ContentId, SwarmShares> swarm_shares_;
};

}  // namespace firn::tracker::test
