#include "tests/sim/lab/rivals/super_seeding.h"

#include <tuple>

namespace firn::sim {

SuperSeeding::SuperSeeding(const RivalRules& rules, std::uint64_t seed)
    : RivalSwarm(rules, seed), sent_(rules.groups), holders_(rules.groups) {}

std::optional<BlockId> SuperSeeding::source_block(std::size_t to) {
  const BlockMap& lacks = blocks_of(to);
  std::optional<BlockId> best;
  std::tuple<bool, std::int64_t, std::uint32_t> best_key;
  const auto first = random().below(static_cast<std::uint32_t>(block_count()));
  for (std::uint32_t i = 0; i < block_count(); ++i) {
    const auto id = static_cast<BlockId>((first + i) % block_count());
    if (!lacks.wants(id)) continue;
    const std::tuple key{sent_[id] > 0, holders_[id], sent_[id]};
    if (best && key >= best_key) continue;
    best = id;
    best_key = key;
  }
  if (!best) return std::nullopt;
  ++sent_[*best];
  ++holders_[*best];
  if (pushed_.size() <= to) pushed_.resize(to + 1);
  pushed_[to].push_back(*best);
  return best;
}

bool SuperSeeding::gains(std::size_t peer, BlockId id) {
  // What the source has sent was counted then.
  if (peer >= pushed_.size() || std::erase(pushed_[peer], id) == 0) ++holders_[id];
  return true;
}

void SuperSeeding::went(std::size_t peer) {
  const BlockMap& had = blocks_of(peer);
  for (BlockId id = 0; id < block_count(); ++id) holders_[id] -= had.has(id) ? 1 : 0;
  if (peer >= pushed_.size()) return;
  for (const BlockId id : pushed_[peer]) --holders_[id];
  pushed_[peer].clear();
}

}  // namespace firn::sim
