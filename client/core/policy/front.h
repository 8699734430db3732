// The front of a download, as a relay sees it: the generations that its rows of late belong to.
//
// The highest one is at the front, and one that the download has passed still is for as long as
// first-hand rows of it are on their way from other relays to their neighbours: what a neighbour
// says of its rank leaves them out.
#pragma once

#include <cstdint>
#include <deque>

#include "client/core/types.h"

namespace firn::core::policy {

class Front {
 public:
  // Where the download is (Holdings::frontier), as last said.
  std::uint32_t frontier() const { return frontier_; }
  // It goes on to there. What it passes stays at the front for `lag` more.
  void move(std::uint32_t frontier, TimeUs lag, TimeUs now) {
    passed_.push_back({now + lag, first_of(frontier_)});
    frontier_ = frontier;
  }
  // The lowest generation at the front.
  std::uint32_t first(TimeUs now) {
    while (!passed_.empty() && passed_.front().until <= now) passed_.pop_front();
    return passed_.empty() ? first_of(frontier_) : passed_.front().first;
  }

 private:
  struct Passed {
    TimeUs until = 0;
    std::uint32_t first = 0;
  };
  static std::uint32_t first_of(std::uint32_t frontier) { return frontier > 0 ? frontier - 1 : 0; }

  std::uint32_t frontier_ = 0;
  std::deque<Passed> passed_;
};

}  // namespace firn::core::policy
