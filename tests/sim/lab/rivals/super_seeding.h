// No coding, and an ideal super-seeding source: it knows what every peer has, sends no block a
// second time before each was sent once, and always the one that is rarest in the whole swarm.
// BitTorrent's own super-seeding (BEP 16) knows only what its neighbours tell.
#pragma once

#include "tests/sim/lab/rivals/rival_swarm.h"

namespace firn::sim {

class SuperSeeding : public RivalSwarm {
 public:
  SuperSeeding(const RivalRules& rules, std::uint64_t seed);

  // How often the source sent each block.
  const std::vector<std::uint32_t>& sent() const { return sent_; }

 protected:
  bool source_chooses() const override { return true; }
  std::optional<BlockId> source_block(std::size_t to) override;
  bool gains(std::size_t peer, BlockId id) override;
  void went(std::size_t peer) override;

 private:
  std::vector<std::uint32_t> sent_;
  std::vector<std::int64_t> holders_;         // peers that hold it, or that the source sends it to
  std::vector<std::vector<BlockId>> pushed_;  // to each peer, and not there yet
};

}  // namespace firn::sim
