// Peers that the content's authority has found guilty of a false block, for as long as they are
// turned away, and by whose word they are. Anybody can make up identities and have them condemned,
// so these are kept apart from the strikes of peers that this one has met, and give way among
// themselves, the oldest first.
#pragma once

#include <cstddef>
#include <deque>
#include <map>
#include <vector>

#include "client/core/policy/constants.h"
#include "client/core/types.h"
#include "proto/base/ids.h"

namespace firn::core {

class Condemned {
 public:
  void add(const PeerId& id, const PeerId& by, TimeUs now) {
    while (!line_.empty() && (line_.size() == policy::kCondemnedMax || oldest() <= now)) {
      known_.erase(line_.front());
      line_.pop_front();
    }
    if (known_.insert_or_assign(id, Sentence{now + kTime, by}).second) line_.push_back(id);
  }
  bool contains(const PeerId& id, TimeUs now) const {
    const auto known = known_.find(id);
    return known != known_.end() && now < known->second.until;
  }
  // Forgets those that stand here by this peer's word, and says which they were.
  std::vector<PeerId> take_back(const PeerId& by) {
    std::vector<PeerId> found;
    for (const auto& [id, sentence] : known_)
      if (sentence.by == by) found.push_back(id);
    std::erase_if(line_, [&](const PeerId& id) { return known_.at(id).by == by; });
    for (const PeerId& id : found) known_.erase(id);
    return found;
  }
  std::size_t count() const { return line_.size(); }

 private:
  struct Sentence {
    TimeUs until = 0;
    PeerId by;
  };
  static constexpr TimeUs kTime = policy::kBanTimes[policy::kStrikesConvicted - 1];
  TimeUs oldest() const { return known_.at(line_.front()).until; }

  std::map<PeerId, Sentence> known_;
  std::deque<PeerId> line_;  // the same, in the order in which they came
};

}  // namespace firn::core
