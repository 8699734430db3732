// When something is due for which neighbour, so that a step looks only at neighbours whose time has
// come, however many there are. A later note for a neighbour does not remove an earlier one:
// the caller of take_due() asks the neighbour whether the entry still holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <utility>
#include <vector>

#include "client/core/base/types.h"

namespace firn::core {

class Agenda {
 public:
  using Entry = std::pair<TimeUs, PeerKey>;

  // take_due() returns this peer next.
  void touch(PeerKey peer) { touched_.push_back(peer); }
  void note(TimeUs at, PeerKey peer);
  // Those that are to be worked out, and those whose time has come: they must be noted again. Keys
  // ascend; neighbours that have left may be among them. Valid until the next call.
  const std::vector<PeerKey>& take_due(TimeUs now);
  // The first time of an entry that holds; kNever: there is none.
  template <typename Holds>
  TimeUs first(Holds&& holds) {
    if (noted_.size() >= prune_at_) {
      std::erase_if(noted_, [&](const Entry& entry) { return !holds(entry); });
      std::make_heap(noted_.begin(), noted_.end(), std::greater<>());
      prune_at_ = 2 * noted_.size() + kPruneMin;
    }
    while (!noted_.empty() && !holds(noted_.front())) pop();
    return noted_.empty() ? kNever : noted_.front().first;
  }

 private:
  static constexpr std::size_t kPruneMin = 64;
  void pop();

  std::vector<PeerKey> touched_;
  std::vector<Entry> noted_;  // a heap, the first time on top
  std::vector<PeerKey> taken_;
  std::size_t prune_at_ = kPruneMin;
};

}  // namespace firn::core
