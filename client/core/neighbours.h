// The connected peers, by key, in its order. A sorted vector: every step goes through all of them,
// and there are few.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "client/core/neighbour.h"
#include "proto/result.h"

namespace firn::core {

class Neighbours {
 public:
  using Entry = std::pair<PeerKey, std::unique_ptr<Neighbour>>;
  using iterator = std::vector<Entry>::iterator;
  using const_iterator = std::vector<Entry>::const_iterator;

  iterator begin() { return entries_.begin(); }
  iterator end() { return entries_.end(); }
  const_iterator begin() const { return entries_.begin(); }
  const_iterator end() const { return entries_.end(); }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }

  iterator find(PeerKey key) {
    const iterator it = lower_bound(key);
    return it != end() && it->first == key ? it : end();
  }
  // How many have a lower key.
  std::uint32_t index_of(PeerKey key) const {
    return static_cast<std::uint32_t>(std::lower_bound(begin(), end(), key, before) - begin());
  }
  std::unique_ptr<Neighbour>& at(PeerKey key) {
    const iterator it = find(key);
    FIRN_CHECK(it != end());
    return it->second;
  }
  // The key must be new.
  void emplace(PeerKey key, std::unique_ptr<Neighbour> neighbour) {
    entries_.emplace(lower_bound(key), key, std::move(neighbour));
  }
  void erase(PeerKey key) {
    const iterator it = find(key);
    if (it != end()) entries_.erase(it);
  }

 private:
  static bool before(const Entry& entry, PeerKey key) { return entry.first < key; }
  iterator lower_bound(PeerKey key) { return std::lower_bound(begin(), end(), key, before); }
  std::vector<Entry> entries_;
};

}  // namespace firn::core
