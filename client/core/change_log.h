// Generations that all neighbours are to be told of again, in the order of their last change. Each
// neighbour remembers up to where it has been told, so that a change costs the same however many
// there are: what is done for each neighbour is done when its State is made.
#pragma once

#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "client/core/types.h"

namespace firn::core {

class ChangeLog {
 public:
  void add(std::uint32_t g) {
    const auto known = number_of_.find(g);
    if (unread_ && known != number_of_.end() && known->second == last_) return;
    drop(g);
    changes_.emplace_hint(changes_.end(), ++last_, g);
    number_of_[g] = last_;
    unread_ = true;
  }
  // Nobody is to be told of it any more.
  void drop(std::uint32_t g) {
    const auto known = number_of_.find(g);
    if (known == number_of_.end()) return;
    changes_.erase(known->second);
    number_of_.erase(known);
  }
  // The number of the last change, up to which a neighbour knows all.
  std::uint64_t mark() {
    unread_ = false;
    return last_;
  }
  // Something has changed since this number.
  bool any_since(std::uint64_t number) const {
    return !changes_.empty() && changes_.rbegin()->first > number;
  }
  // f(generation) for each that has.
  template <typename F>
  void each_since(std::uint64_t number, F&& f) const {
    for (auto it = changes_.upper_bound(number); it != changes_.end(); ++it) f(it->second);
  }

  // --- neighbours that have nothing else to be told ---
  // They are to be looked at with the next change.
  void rests(PeerKey peer) { resting_.push_back(peer); }
  void leaves(PeerKey peer) { std::erase(resting_, peer); }
  std::vector<PeerKey> take_resting() { return std::exchange(resting_, {}); }

 private:
  std::map<std::uint64_t, std::uint32_t> changes_;  // by number
  std::unordered_map<std::uint32_t, std::uint64_t> number_of_;
  std::uint64_t last_ = 0;
  bool unread_ = false;  // nobody knows of the last change
  std::vector<PeerKey> resting_;
};

}  // namespace firn::core
