// What one peer of a rival swarm knows about blocks: which it has, which are on their way to it,
// how many of its neighbours hold each, and how many more of each group it can use. A group is what
// the blocks of one generation are to a source that codes, where any n of them will do; without
// coding every block is a group of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace firn::sim {

using BlockId = std::uint32_t;

class BlockMap {
 public:
  // `group_of` (owned by the swarm, grows with it) names the group of each block; `per_group`
  // blocks of each are wanted.
  BlockMap(const std::vector<std::uint32_t>& group_of, std::uint32_t groups,
           std::uint32_t per_group);

  bool has(BlockId id) const { return bit(has_, id); }
  // Has it or waits for it.
  bool taken(BlockId id) const { return bit(taken_, id); }
  // Would ask for it now.
  bool wants(BlockId id) const { return !taken(id) && room_[group_of_[id]] > 0; }
  bool group_wanted(std::uint32_t group) const { return missing_in_[group] > 0; }
  bool group_has_room(std::uint32_t group) const { return room_[group] > 0; }
  std::uint32_t missing() const { return missing_; }
  bool complete() const { return missing_ == 0; }
  // All that is missing is on its way.
  bool all_requested() const { return on_its_way_ >= missing_; }

  // A neighbour got a block, came with some, or went with them.
  void neighbour_has(BlockId id) { ++holders_[id]; }
  void neighbour_came(const BlockMap& other);
  void neighbour_went(const BlockMap& other);

  // The block of `sender` that this peer wants and fewest of its neighbours hold; `salt` breaks
  // ties. `surplus`: also of groups of which enough are on their way.
  std::optional<BlockId> rarest(const BlockMap& sender, std::uint32_t salt, bool surplus) const;

  void requested(BlockId id);  // it is not taken
  void given_up(BlockId id);   // will not come: it is wanted again
  // A block that was requested has come. True if that completed its group.
  bool arrived(BlockId id, bool innovative);
  // Everything, as a source.
  void fill();
  // The swarm has made blocks up to this many.
  void grow(std::size_t blocks);

 private:
  static bool bit(const std::vector<std::uint64_t>& words, BlockId id) {
    return words[id / 64] >> (id % 64) & 1;
  }
  const std::vector<std::uint32_t>& group_of_;
  std::vector<std::uint64_t> has_, taken_;
  std::vector<std::uint16_t> holders_;
  std::vector<std::int16_t> room_;         // of each group: missing and not on its way
  std::vector<std::uint16_t> missing_in_;  // of each group
  std::uint32_t missing_ = 0, on_its_way_ = 0;
};

}  // namespace firn::sim
