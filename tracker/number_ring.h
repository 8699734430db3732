// An order of items of a pool by when they were added, linked through the items themselves. It
// takes one number; an item takes two, and stands in one such order at a time.
#pragma once

#include "tracker/number_pool.h"

namespace firn::tracker {

struct RingLinks {
  std::uint32_t next = kNone, previous = kNone;
};

// Its functions take the pool, whose items have `RingLinks ring`.
class NumberRing {
 public:
  bool empty() const { return last_ == kNone; }
  // kNone: there is none.
  template <class Items>
  std::uint32_t first(const Items& items) const {
    return empty() ? kNone : items[last_].ring.next;
  }
  template <class Items>
  std::uint32_t after(std::uint32_t number, const Items& items) const {
    return number == last_ ? kNone : items[number].ring.next;
  }
  template <class Items>
  void push_back(std::uint32_t number, Items& items) {
    if (empty()) {
      items[number].ring = {number, number};
    } else {
      const std::uint32_t first = items[last_].ring.next;
      items[number].ring = {first, last_};
      items[last_].ring.next = number;
      items[first].ring.previous = number;
    }
    last_ = number;
  }
  template <class Items>
  void remove(std::uint32_t number, Items& items) {
    const RingLinks links = items[number].ring;
    if (number == links.next) {
      last_ = kNone;
    } else {
      items[links.next].ring.previous = links.previous;
      items[links.previous].ring.next = links.next;
      if (last_ == number) last_ = links.previous;
    }
  }
  template <class Items>
  void move_to_back(std::uint32_t number, Items& items) {
    if (number == last_) return;
    remove(number, items);
    push_back(number, items);
  }

 private:
  std::uint32_t last_ = kNone;  // its next one is the first
};

}  // namespace firn::tracker
