// Numbers by kind in one list, so that a sample draws from those that fit without looking at the
// others: incomplete ones first, then complete ones, then those that are not handed out.
#pragma once

#include <array>
#include <cstdint>
#include <utility>

#include "tracker/number_list.h"

namespace firn::tracker {

enum class Kind : std::uint8_t { kIncomplete, kComplete, kHidden };
// Which kinds fit.
enum With : std::uint8_t { kWithIncomplete, kWithAny };
inline bool fits(Kind kind, With with) {
  return kind == Kind::kIncomplete || (kind == Kind::kComplete && with == kWithAny);
}

// One thread. A number's owner keeps its slot: `moved(number, slot)` is told of each new one.
class KindList {
 public:
  std::uint32_t size() const { return numbers_.size(); }
  // Those that fit stand in the slots below it.
  std::uint32_t fitting(With with) const { return ends_[with]; }
  std::uint32_t operator[](std::uint32_t slot) const { return numbers_[slot]; }
  // The best kind of those that are there, in the order above.
  Kind kind() const {
    if (ends_[kWithIncomplete] > 0) return Kind::kIncomplete;
    return ends_[kWithAny] > 0 ? Kind::kComplete : Kind::kHidden;
  }

  template <class Moved>
  void add(std::uint32_t number, Kind kind, const Moved& moved) {
    numbers_.push_back(number);
    raise(size() - 1, kind, moved);
  }
  template <class Moved>
  void remove(std::uint32_t slot, Kind kind, const Moved& moved) {
    swap(lower(slot, kind, moved), size() - 1, moved);
    numbers_.pop_back();
  }
  template <class Moved>
  void change(std::uint32_t slot, Kind from, Kind to, const Moved& moved) {
    if (from != to) raise(lower(slot, from, moved), to, moved);
  }
  // Another in its place, of the same kind.
  void replace(std::uint32_t slot, std::uint32_t number) { numbers_[slot] = number; }

 private:
  // From the end of the list to its kind.
  template <class Moved>
  void raise(std::uint32_t slot, Kind kind, const Moved& moved) {
    if (fits(kind, kWithAny)) slot = swap(slot, ends_[kWithAny]++, moved);
    if (fits(kind, kWithIncomplete)) slot = swap(slot, ends_[kWithIncomplete]++, moved);
    moved(numbers_[slot], slot);
  }
  // Among the hidden ones.
  template <class Moved>
  std::uint32_t lower(std::uint32_t slot, Kind kind, const Moved& moved) {
    if (fits(kind, kWithIncomplete)) slot = swap(slot, --ends_[kWithIncomplete], moved);
    if (fits(kind, kWithAny)) slot = swap(slot, --ends_[kWithAny], moved);
    return slot;
  }
  // The slot of the one that was in `slot`.
  template <class Moved>
  std::uint32_t swap(std::uint32_t slot, std::uint32_t with, const Moved& moved) {
    std::swap(numbers_[slot], numbers_[with]);
    moved(numbers_[slot], slot);
    return with;
  }

  NumberList numbers_;
  std::array<std::uint32_t, 2> ends_{};
};

}  // namespace firn::tracker
