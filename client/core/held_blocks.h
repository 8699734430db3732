// The source blocks that a neighbour says it holds, in generations that it fetches plainly
// (plain_fetch.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "proto/base/limits.h"

namespace firn::core {

class HeldBlocks {
 public:
  using Bits = std::vector<std::uint8_t>;  // bit i % 8 of byte i / 8

  // Of as many generations as one State can name; beyond that the oldest is forgotten.
  void keep(std::uint32_t g, Bits&& bits) {
    if (Bits* known = find(g)) {
      *known = std::move(bits);
      return;
    }
    if (sets_.size() >= limits::kWantedBlocksMax) sets_.erase(sets_.begin());
    sets_.emplace_back(g, std::move(bits));
  }
  void drop(std::uint32_t g) {
    if (sets_.empty()) return;
    std::erase_if(sets_, [g](const auto& kept) { return kept.first == g; });
  }
  void clear() { sets_.clear(); }
  // The generations, each with its bits.
  auto begin() const { return sets_.begin(); }
  auto end() const { return sets_.end(); }
  bool any() const { return !sets_.empty(); }
  // Null: it has told of none.
  const Bits* find(std::uint32_t g) const {
    const auto at =
        std::find_if(sets_.begin(), sets_.end(), [g](const auto& kept) { return kept.first == g; });
    return at == sets_.end() ? nullptr : &at->second;
  }
  Bits* find(std::uint32_t g) { return const_cast<Bits*>(std::as_const(*this).find(g)); }

 private:
  std::vector<std::pair<std::uint32_t, Bits>> sets_;  // oldest first
};

}  // namespace firn::core
