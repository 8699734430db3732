// The source blocks that a neighbour asks for, in generations of which it takes no other blocks
// (plain_fetch.h is the asking side), and which of them are on their way to it.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

namespace firn::core {

class WantedBlocks {
 public:
  // Of one generation.
  class Set {
   public:
    explicit Set(std::vector<std::uint8_t> bits) : wanted_(std::move(bits)) {
      sent_.resize(wanted_.size());
    }
    // It wants source block i, which has not been sent since it was asked for.
    bool open(std::uint32_t i) const { return (wanted_[i / 8] & ~sent_[i / 8]) >> (i % 8) & 1; }
    bool any_open() const;

   private:
    friend class WantedBlocks;
    std::vector<std::uint8_t> wanted_, sent_;  // bit i % 8 of byte i / 8
  };

  // Whether these are bits of n source blocks.
  static bool fits(const std::vector<std::uint8_t>& bits, std::uint32_t n);
  // `bits` that fit. `none_in_flight`: nothing of g is on its way to the neighbour, so that what it
  // still wants has got lost.
  void keep(std::uint32_t g, std::vector<std::uint8_t>&& bits, bool none_in_flight);
  void drop(std::uint32_t g);
  void clear() { sets_.clear(); }
  // Source block i is on its way.
  void sent(std::uint32_t g, std::uint32_t i);
  // Null: it takes coded blocks of g.
  const Set* find(std::uint32_t g) const;

 private:
  std::vector<std::pair<std::uint32_t, Set>> sets_;  // oldest first
};

}  // namespace firn::core
