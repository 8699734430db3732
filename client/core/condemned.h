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
  // `met`: this peer has been connected to it.
  void add(const PeerId& id, bool met, TimeUs now) {
    while (!line_.empty() && (line_.size() == policy::kCondemnedMax || until(0) <= now)) drop();
    if (!known_.insert_or_assign(id, Ban{now + kTime, met}).second) return;
    line_.push_back(id);
    met_ += met;
  }
  bool contains(const PeerId& id, TimeUs now) const {
    const auto known = known_.find(id);
    return known != known_.end() && now < known->second.until;
  }
  // That this peer has met; some of them perhaps not any more.
  std::size_t met() const { return met_; }

 private:
  static constexpr TimeUs kTime = policy::kBanTimes[policy::kStrikesConvicted - 1];
  struct Ban {
    TimeUs until = 0;
    bool met = false;
  };
  TimeUs until(std::size_t at) const { return known_.at(line_[at]).until; }
  void drop() {
    met_ -= known_.at(line_.front()).met;
    known_.erase(line_.front());
    line_.pop_front();
  }

  std::map<PeerId, Ban> known_;
  std::deque<PeerId> line_;  // the same, in the order in which they came
  std::size_t met_ = 0;
};

}  // namespace firn::core
