// Things in memory that are named by numbers of 32 bits: half a pointer, and no allocation for
// each.
#pragma once

#include <cstdint>

#include "proto/base/result.h"
#include "tracker/chunked_array.h"

namespace firn::tracker {

inline constexpr std::uint32_t kNone = 0xffffffff;       // names nothing
inline constexpr std::uint32_t kOtherPool = 0x80000000;  // no number of a pool has this bit

// One thread. An Item has `std::uint32_t& free_link()`, which is the pool's while the item is free.
// What is given back is used again; memory stays.
template <class Item>
class NumberPool {
 public:
  // Numbers are below it, those of free items too.
  std::uint32_t end() const { return items_.size(); }
  std::uint32_t size() const { return items_.size() - free_count_; }
  Item& operator[](std::uint32_t number) { return items_[number]; }
  const Item& operator[](std::uint32_t number) const { return items_[number]; }

  // A new item, as Item{} makes it.
  std::uint32_t take() {
    if (free_ == kNone) {
      FIRN_CHECK(items_.size() < kOtherPool);
      items_.push_back(Item{});
      return items_.size() - 1;
    }
    const std::uint32_t number = free_;
    free_ = items_[number].free_link();
    --free_count_;
    items_[number] = Item{};
    return number;
  }
  void give(std::uint32_t number) {
    items_[number] = Item{};
    items_[number].free_link() = free_;
    free_ = number;
    ++free_count_;
  }

 private:
  ChunkedArray<Item> items_;
  std::uint32_t free_ = kNone;  // the first of a chain
  std::uint32_t free_count_ = 0;
};

}  // namespace firn::tracker
