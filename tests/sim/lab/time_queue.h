// Virtual time for large simulations: events are small values, in a radix heap (Ahuja, Mehlhorn,
// Orlin, Tarjan 1990). It asks that no event is posted before the last one that was taken, which
// virtual time grants, and takes O(1) amortised where a binary heap of a million events misses the
// cache at every level. Events of one time come in the order of their posting.
#pragma once

#include <bit>
#include <cstdint>
#include <vector>

#include "client/core/base/types.h"

namespace firn::sim {

struct LabEvent {
  core::TimeUs time = 0;
  std::uint32_t kind = 0;
  std::uint32_t peer = 0;
  std::uint64_t value = 0;
};

class TimeQueue {
 public:
  core::TimeUs now() const { return now_; }
  bool empty() const { return size_ == 0; }
  std::uint64_t taken() const { return taken_; }

  void post(LabEvent event) {
    if (event.time < now_) event.time = now_;
    buckets_[bucket_of(event.time)].push_back(event);
    ++size_;
  }

  // The earliest event; the queue must not be empty. Time goes on to it.
  LabEvent take() {
    if (head_ == buckets_[0].size()) refill();
    --size_;
    ++taken_;
    return buckets_[0][head_++];
  }

 private:
  // 0: the present time; i: the highest bit in which the time differs from the present is i - 1.
  // Buckets above the first hold later times the higher they are.
  std::size_t bucket_of(core::TimeUs time) const {
    return static_cast<std::size_t>(std::bit_width(static_cast<std::uint64_t>(time ^ now_)));
  }

  // Goes on to the earliest time left: it is in the lowest bucket that holds anything. All of that
  // bucket moves to lower ones, which are empty, so what was posted first stays first.
  void refill() {
    buckets_[0].clear();
    head_ = 0;
    std::size_t lowest = 1;
    while (buckets_[lowest].empty()) ++lowest;
    std::vector<LabEvent>& from = buckets_[lowest];
    now_ = from.front().time;
    for (const LabEvent& event : from) now_ = event.time < now_ ? event.time : now_;
    for (const LabEvent& event : from) buckets_[bucket_of(event.time)].push_back(event);
    from.clear();
  }

  std::vector<LabEvent> buckets_[65];
  std::size_t head_ = 0;  // of bucket 0: taken up to here
  std::uint64_t size_ = 0;
  std::uint64_t taken_ = 0;
  core::TimeUs now_ = 0;
};

}  // namespace firn::sim
