// The ids of peers about which this one has found something out: the last ones.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "proto/base/ids.h"

namespace firn::core::trust {

class RecentIds {
 public:
  explicit RecentIds(std::size_t most = 64) : most_(most) {}

  void add(const PeerId& id) {
    if (contains(id)) return;
    if (ids_.size() == most_) ids_.pop_front();
    ids_.push_back(id);
  }
  void remove(const PeerId& id) { std::erase(ids_, id); }
  bool contains(const PeerId& id) const {
    return std::find(ids_.begin(), ids_.end(), id) != ids_.end();
  }

 private:
  const std::size_t most_;
  std::deque<PeerId> ids_;  // oldest first
};

}  // namespace firn::core::trust
