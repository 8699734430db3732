// Peers that the content's authority has found guilty of a false block, for as long as they are
// turned away. Anybody can make up identities and have them condemned, so these are kept apart from
// the strikes of peers that this one has met, and give way among themselves, the oldest first.
#pragma once

#include <cstddef>
#include <deque>
#include <map>

#include "client/core/policy/constants.h"
#include "client/core/types.h"
#include "proto/base/ids.h"

namespace firn::core {

class Condemned {
 public:
  void add(const PeerId& id, TimeUs now) {
    while (!line_.empty() && (line_.size() == policy::kCondemnedMax || oldest() <= now)) {
      until_.erase(line_.front());
      line_.pop_front();
    }
    if (until_.insert_or_assign(id, now + kTime).second) line_.push_back(id);
  }
  bool contains(const PeerId& id, TimeUs now) const {
    const auto known = until_.find(id);
    return known != until_.end() && now < known->second;
  }
  // What was said of them is worth nothing.
  void clear() {
    until_.clear();
    line_.clear();
  }
  std::size_t count() const { return line_.size(); }

 private:
  static constexpr TimeUs kTime = policy::kBanTimes[policy::kStrikesConvicted - 1];
  TimeUs oldest() const { return until_.at(line_.front()); }

  std::map<PeerId, TimeUs> until_;
  std::deque<PeerId> line_;  // the same, in the order in which they came
};

}  // namespace firn::core
