#include "client/core/neighbour/agenda.h"

namespace firn::core {

void Agenda::note(TimeUs at, PeerKey peer) {
  noted_.emplace_back(at, peer);
  std::push_heap(noted_.begin(), noted_.end(), std::greater<>());
}

void Agenda::pop() {
  std::pop_heap(noted_.begin(), noted_.end(), std::greater<>());
  noted_.pop_back();
}

const std::vector<PeerKey>& Agenda::take_due(TimeUs now) {
  taken_.clear();
  taken_.swap(touched_);
  while (!noted_.empty() && noted_.front().first <= now) {
    taken_.push_back(noted_.front().second);
    pop();
  }
  std::sort(taken_.begin(), taken_.end());
  taken_.erase(std::unique(taken_.begin(), taken_.end()), taken_.end());
  return taken_;
}

}  // namespace firn::core
