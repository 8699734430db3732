#include "tests/sim/lab/rivals/block_map.h"

#include <bit>

namespace firn::sim {

namespace {

template <class Do>
void for_each(std::uint64_t bits, std::size_t word, const Do& what) {
  for (; bits != 0; bits &= bits - 1) {
    what(static_cast<BlockId>(word * 64 + static_cast<std::size_t>(std::countr_zero(bits))));
  }
}

// Ties are broken at random, and differently at each choice: 16 bits that id and salt decide.
std::uint32_t tie_break(BlockId id, std::uint32_t salt) {
  return ((id * 0x9e3779b1u) ^ salt) * 0x85ebca6bu >> 16;
}

}  // namespace

BlockMap::BlockMap(const std::vector<std::uint32_t>& group_of, std::uint32_t groups,
                   std::uint32_t per_group)
    : group_of_(group_of),
      room_(groups, static_cast<std::int16_t>(per_group)),
      missing_in_(groups, static_cast<std::uint16_t>(per_group)),
      missing_(groups * per_group) {
  grow(group_of.size());
}

void BlockMap::grow(std::size_t blocks) {
  const std::size_t words = (blocks + 63) / 64;
  if (words <= has_.size()) return;
  has_.resize(words);
  taken_.resize(words);
  holders_.resize(words * 64);
}

void BlockMap::neighbour_came(const BlockMap& other) {
  for (std::size_t w = 0; w < other.has_.size(); ++w) {
    for_each(other.has_[w], w, [this](BlockId id) { ++holders_[id]; });
  }
}

void BlockMap::neighbour_went(const BlockMap& other) {
  for (std::size_t w = 0; w < other.has_.size(); ++w) {
    for_each(other.has_[w], w, [this](BlockId id) { --holders_[id]; });
  }
}

std::optional<BlockId> BlockMap::rarest(const BlockMap& sender, std::uint32_t salt,
                                        bool surplus) const {
  std::optional<BlockId> best;
  std::uint64_t best_key = ~std::uint64_t{0};
  for (std::size_t w = 0; w < has_.size(); ++w) {
    for_each(sender.has_[w] & ~taken_[w], w, [&](BlockId id) {
      const std::uint32_t group = group_of_[id];
      if (surplus ? missing_in_[group] == 0 : room_[group] <= 0) return;
      const std::uint64_t key = std::uint64_t{holders_[id]} << 32 | tie_break(id, salt);
      if (key >= best_key) return;
      best_key = key;
      best = id;
    });
  }
  return best;
}

void BlockMap::requested(BlockId id) {
  taken_[id / 64] |= std::uint64_t{1} << (id % 64);
  --room_[group_of_[id]];
  ++on_its_way_;
}

void BlockMap::given_up(BlockId id) {
  taken_[id / 64] &= ~(std::uint64_t{1} << (id % 64));
  ++room_[group_of_[id]];
  --on_its_way_;
}

bool BlockMap::arrived(BlockId id, bool innovative) {
  has_[id / 64] |= std::uint64_t{1} << (id % 64);
  --on_its_way_;
  const std::uint32_t group = group_of_[id];
  if (!innovative) {
    ++room_[group];
    return false;
  }
  --missing_;
  return --missing_in_[group] == 0;
}

void BlockMap::fill() {
  for (BlockId id = 0; id < group_of_.size(); ++id) {
    requested(id);
    arrived(id, true);
  }
}

}  // namespace firn::sim
