// Some of a generation's slots: a bit each, up to the highest one that was added.
#pragma once

#include <cstdint>
#include <vector>

namespace firn::core {

class SlotSet {
 public:
  bool contains(std::uint32_t slot) const {
    return slot / 64 < words_.size() && (words_[slot / 64] >> slot % 64 & 1) != 0;
  }
  void add(std::uint32_t slot) {
    if (slot / 64 >= words_.size()) words_.resize(slot / 64 + 1);
    words_[slot / 64] |= std::uint64_t{1} << slot % 64;
  }
  void remove(std::uint32_t slot) {
    if (slot / 64 < words_.size()) words_[slot / 64] &= ~(std::uint64_t{1} << slot % 64);
  }
  void clear() { words_.clear(); }

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace firn::core
