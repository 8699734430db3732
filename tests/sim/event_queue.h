// Virtual time: events happen in order of their time, those of one time in order of their posting.
#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "client/core/base/types.h"

namespace firn::sim {

using core::kNever;
using core::TimeUs;

class EventQueue {
 public:
  TimeUs now() const { return now_; }
  void at(TimeUs time, std::function<void()> what) {
    queue_.push({time < now_ ? now_ : time, posted_++, std::move(what)});
  }
  void after(TimeUs delay, std::function<void()> what) { at(now_ + delay, std::move(what)); }

  // Runs events until `done` holds, the time is past `until`, or nothing is left. True if done.
  bool run(TimeUs until, const std::function<bool()>& done) {
    while (!done()) {
      if (queue_.empty() || queue_.top().time > until) return false;
      Event event = std::move(const_cast<Event&>(queue_.top()));
      queue_.pop();
      now_ = event.time;
      ++ran_;
      event.what();
    }
    return true;
  }
  std::uint64_t events() const { return ran_; }

 private:
  struct Event {
    TimeUs time;
    std::uint64_t order;
    std::function<void()> what;
    bool operator<(const Event& other) const {
      return time != other.time ? time > other.time : order > other.order;
    }
  };
  TimeUs now_ = 0;
  std::uint64_t posted_ = 0;
  std::uint64_t ran_ = 0;
  std::priority_queue<Event> queue_;
};

}  // namespace firn::sim
