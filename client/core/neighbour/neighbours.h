// The connected peers, ordered by key; owns them. A source may have ten thousand: what is done for
// each block or in each step must look only at the neighbours that it concerns (agenda.h,
// socket_line.h, source_line.h), and a walk over all of them is for once a second. Through a const
// Neighbours each of them is const.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "client/core/neighbour/agenda.h"
#include "client/core/neighbour/neighbour.h"
#include "proto/base/result.h"

namespace firn::core {

class Neighbours {
  using Entry = std::pair<PeerKey, std::unique_ptr<Neighbour>>;
  using Entries = std::vector<Entry>;

  template <typename Value>
  class Each {
   public:
    using value_type = Value;
    using difference_type = std::ptrdiff_t;

    Each() = default;
    explicit Each(Entries::const_iterator at) : at_(at) {}
    Value& operator*() const { return *at_->second; }
    Value* operator->() const { return at_->second.get(); }
    Each& operator++() {
      ++at_;
      return *this;
    }
    Each operator++(int) {
      Each before = *this;
      ++at_;
      return before;
    }
    bool operator==(const Each&) const = default;

   private:
    Entries::const_iterator at_;
  };

 public:
  using iterator = Each<Neighbour>;
  using const_iterator = Each<const Neighbour>;

  iterator begin() {
    ++walks_;
    return iterator(entries_.begin());
  }
  iterator end() { return iterator(entries_.end()); }
  const_iterator begin() const {
    ++walks_;
    return const_iterator(entries_.begin());
  }
  const_iterator end() const { return const_iterator(entries_.end()); }
  std::size_t size() const { return entries_.size(); }
  bool empty() const { return entries_.empty(); }
  // How often all neighbours were walked over: the cost of that grows with their number.
  std::uint64_t walks() const { return walks_; }

  // Null: it is not connected.
  Neighbour* find(PeerKey key) {
    const auto it = lower_bound(key);
    return it != entries_.end() && it->first == key ? it->second.get() : nullptr;
  }
  const Neighbour* find(PeerKey key) const { return const_cast<Neighbours*>(this)->find(key); }
  // Null: none that is connected proved this identity.
  Neighbour* find(const PeerId& id) {
    const auto it = keys_.find(id);
    return it == keys_.end() ? nullptr : find(it->second);
  }
  const Neighbour* find(const PeerId& id) const { return const_cast<Neighbours*>(this)->find(id); }
  // How many want less than half of what this peer wants: they bring it little.
  std::size_t strangers() const { return strangers_; }
  void note_stranger(Neighbour& n, bool stranger) {
    strangers_ += stranger ? 1 : 0;
    strangers_ -= n.stranger ? 1 : 0;
    n.stranger = stranger;
  }
  // Those that this peer has called.
  const std::vector<PeerKey>& called() const { return called_; }
  bool contains(const PeerId& id) const { return keys_.contains(id); }
  // How many have a lower key.
  std::uint32_t index_of(PeerKey key) const {
    return static_cast<std::uint32_t>(lower_bound(key) - entries_.begin());
  }
  Neighbour& at(PeerKey key) {
    Neighbour* n = find(key);
    FIRN_CHECK(n != nullptr);
    return *n;
  }
  // The key must be new, and the identity not connected.
  Neighbour& add(std::unique_ptr<Neighbour> neighbour) {
    const PeerKey key = neighbour->key;
    neighbour->untold.note_in(states_, changes_, key);
    keys_.emplace(neighbour->id, key);
    if (neighbour->contact.outgoing()) called_.push_back(key);
    return *entries_.emplace(lower_bound(key), key, std::move(neighbour))->second;
  }
  void erase(PeerKey key) {
    const auto it = lower_bound(key);
    if (it == entries_.end() || it->first != key) return;
    keys_.erase(it->second->id);
    std::erase(called_, key);
    if (it->second->untold.resting()) changes_.neighbour_left(key);
    note_stranger(*it->second, false);
    entries_.erase(it);
  }
  // When the next State to each is due, or is to be worked out (Untold::due).
  Agenda& states() { return states_; }
  // All that have been told what we hold are to be told of generation g.
  void report(std::uint32_t g) {
    for (const PeerKey key : changes_.take_resting()) find(key)->untold.stir();
    changes_.add(g);
  }
  // And that this peer holds it in whole.
  void report_verified(std::uint32_t g) {
    changes_.drop(g);
    for (Neighbour& n : *this) {
      if (n.untold.begun()) n.untold.report_verified(g);
    }
  }

 private:
  static bool before(const Entry& entry, PeerKey key) { return entry.first < key; }
  Entries::const_iterator lower_bound(PeerKey key) const {
    return std::lower_bound(entries_.begin(), entries_.end(), key, before);
  }
  Entries entries_;
  mutable std::uint64_t walks_ = 0;
  std::map<PeerId, PeerKey> keys_;
  std::vector<PeerKey> called_;
  std::size_t strangers_ = 0;
  Agenda states_;
  ChangeLog changes_;
};

}  // namespace firn::core
