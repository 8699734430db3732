// What neighbours say of single source blocks, in generations that are fetched plainly
// (plain_fetch.h): which they ask for, and which they hold. Bit i % 8 of byte i / 8 stands for
// source block i. A State can name a bounded number of generations so; beyond that the oldest is
// forgotten.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "proto/base/limits.h"

namespace firn::core {

using BlockBits = std::vector<std::uint8_t>;

// Of n source blocks none.
inline BlockBits no_blocks(std::uint32_t n) {
  return BlockBits((n + 7) / 8);
}
inline bool has_block(const BlockBits& bits, std::uint32_t i) {
  return (bits[i / 8] >> (i % 8) & 1) != 0;
}
inline void add_block(BlockBits& bits, std::uint32_t i) {
  bits[i / 8] |= static_cast<std::uint8_t>(1 << (i % 8));
}

// Whether these are bits of n source blocks.
inline bool are_block_bits(const BlockBits& bits, std::uint32_t n) {
  return bits.size() == (n + 7) / 8 && (n % 8 == 0 || bits.back() >> (n % 8) == 0);
}

// By generation, oldest first.
template <typename Set>
class BlockSets {
 public:
  void drop(std::uint32_t g) {
    if (sets_.empty()) return;
    std::erase_if(sets_, [g](const auto& kept) { return kept.first == g; });
  }
  void clear() { sets_.clear(); }
  auto begin() const { return sets_.begin(); }
  auto end() const { return sets_.end(); }
  bool any() const { return !sets_.empty(); }
  // Null: it has told of none.
  const Set* find(std::uint32_t g) const {
    const auto at =
        std::find_if(sets_.begin(), sets_.end(), [g](const auto& kept) { return kept.first == g; });
    return at == sets_.end() ? nullptr : &at->second;
  }
  Set* find(std::uint32_t g) { return const_cast<Set*>(std::as_const(*this).find(g)); }
  // The set of g, made if it is new.
  Set& at(std::uint32_t g) {
    if (Set* const known = find(g)) return *known;
    if (sets_.size() >= limits::kWantedBlocksMax) sets_.erase(sets_.begin());
    return sets_.emplace_back(g, Set()).second;
  }

 private:
  std::vector<std::pair<std::uint32_t, Set>> sets_;
};

// The source blocks that a neighbour says it holds.
using HeldBlocks = BlockSets<BlockBits>;

// The source blocks of one generation that a neighbour asks for, and which of them are on their way
// to it. It takes no other blocks of the generation.
class WantedSet {
 public:
  // `bits` of source blocks. `none_in_flight`: nothing of the generation is on its way to the
  // neighbour, so that what it still wants has got lost.
  void keep(BlockBits&& bits, bool none_in_flight) {
    wanted_ = std::move(bits);
    if (none_in_flight) sent_.clear();
    sent_.resize(wanted_.size());
  }
  // Source block i is on its way.
  void sent(std::uint32_t i) { add_block(sent_, i); }
  // It wants source block i, which has not been sent since it was asked for.
  bool open(std::uint32_t i) const { return has_block(wanted_, i) && !has_block(sent_, i); }
  bool any_open() const {
    for (std::size_t byte = 0; byte < wanted_.size(); ++byte) {
      if ((wanted_[byte] & ~sent_[byte]) != 0) return true;
    }
    return false;
  }

 private:
  BlockBits wanted_, sent_;
};
using WantedBlocks = BlockSets<WantedSet>;

}  // namespace firn::core
