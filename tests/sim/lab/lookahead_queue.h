// Virtual time for large simulations, in windows (time_queue.h goes one event after the other).
// What one peer does reaches another after the path's delay at the earliest. So within a window no
// longer than the shortest path, each peer's events depend on its own alone, and one peer after the
// other goes through the whole window, so that a peer's state is brought into the cache once for a
// handful of events. What peers share beside the network (the tracker's list, the lab's
// generator) they use in the order of their numbers within a window: one seed still gives one
// result, but not the one that time_queue.h would give. (A conservative simulation, Chandy and
// Misra 1979, Nicol 1993, here for locality and not for processors.)
//
// Events of a peer come in the order of their times, those of one time in that of their posting.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <vector>

#include "client/core/base/types.h"
#include "proto/base/result.h"
#include "tests/sim/lab/time_queue.h"

namespace firn::sim {

class LookaheadQueue {
 public:
  // The length of a window: what one peer posts for another is never due earlier than that after
  // it. Before the first event is taken.
  void set_window(core::TimeUs width) {
    FIRN_CHECK(width > 0 && taken_ == 0);
    std::vector<LabEvent> posted;
    for (auto& [start, events] : later_) posted.insert(posted.end(), events.begin(), events.end());
    later_.clear();
    size_ = 0;
    width_ = width;
    for (const LabEvent& event : posted) post(event);
  }

  // Of the event taken last. From one peer to the next it may go back, within a window.
  core::TimeUs now() const { return now_; }
  // Everything before has happened to every peer.
  core::TimeUs window_start() const { return window_end_ - width_; }
  bool empty() const { return size_ == 0; }
  std::uint64_t taken() const { return taken_; }

  void post(LabEvent event) {
    event.time = std::max(event.time, now_);
    ++size_;
    if (event.time >= window_end_) {
      later_[event.time / width_].push_back(event);
      return;
    }
    FIRN_CHECK(event.peer == peer_);  // shorter than the shortest path
    const auto at = std::upper_bound(
        turn_.begin() + static_cast<std::ptrdiff_t>(head_), turn_.end(), event.time,
        [](core::TimeUs time, const LabEvent& other) { return time < other.time; });
    turn_.insert(at, event);
  }

  // The next event; the queue must not be empty.
  LabEvent take() {
    while (head_ == turn_.size()) next_turn();
    --size_;
    ++taken_;
    now_ = turn_[head_].time;
    return turn_[head_++];
  }
  // The event taken last has not happened yet.
  void put_back() {
    --head_;
    ++size_;
    --taken_;
  }

 private:
  // The next peer with events in this window, or the next window with any.
  void next_turn() {
    turn_.clear();
    head_ = 0;
    if (done_ == window_.size()) next_window();
    peer_ = window_[done_].peer;
    while (done_ < window_.size() && window_[done_].peer == peer_)
      turn_.push_back(window_[done_++]);
    std::stable_sort(turn_.begin(), turn_.end(),
                     [](const LabEvent& a, const LabEvent& b) { return a.time < b.time; });
    now_ = turn_.front().time;
  }

  // Orders the events by peer, those of a peer as they were posted.
  void next_window() {
    const auto first = later_.begin();
    window_end_ = (first->first + 1) * width_;
    const std::vector<LabEvent>& events = first->second;
    std::uint32_t peers = 0;
    for (const LabEvent& event : events) peers = std::max(peers, event.peer + 1);
    starts_.assign(peers + 1, 0);
    for (const LabEvent& event : events) ++starts_[event.peer + 1];
    for (std::uint32_t p = 0; p < peers; ++p) starts_[p + 1] += starts_[p];
    window_.resize(events.size());
    for (const LabEvent& event : events) window_[starts_[event.peer]++] = event;
    done_ = 0;
    later_.erase(first);
  }

  core::TimeUs width_ = 1;
  core::TimeUs window_end_ = 0;
  std::map<core::TimeUs, std::vector<LabEvent>> later_;  // by window
  std::vector<LabEvent> window_;                         // by peer; up to done_ they had their turn
  std::size_t done_ = 0;
  std::vector<LabEvent> turn_;  // of one peer, by time; up to head_ they were taken
  std::size_t head_ = 0;
  std::uint32_t peer_ = 0;
  std::vector<std::size_t> starts_;  // scratch of next_window
  std::uint64_t size_ = 0;
  std::uint64_t taken_ = 0;
  core::TimeUs now_ = 0;
};

}  // namespace firn::sim
