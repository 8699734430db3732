#include "tests/sim/lab/rivals/source_only.h"

#include <algorithm>

#include "codec/encode.h"

namespace firn::sim {

SourceOnly::SourceOnly(const RivalRules& rules, Order order, std::uint64_t seed)
    : RivalSwarm(rules, seed), order_(order), seed_(seed), made_(rules.groups) {
  FIRN_CHECK(rules.per_group > 1);
}

std::vector<std::uint8_t> SourceOnly::vector(BlockId id) const {
  codec::CoefficientStream random(seed_, 0x766563746f720000 + id);
  return codec::random_vector(rules().per_group, random);
}

std::optional<BlockId> SourceOnly::source_block(std::size_t to) {
  const BlockMap& lacks = blocks_of(to);
  std::optional<std::uint32_t> best;
  for (std::uint32_t g = 0; g < made_.size(); ++g) {
    if (!lacks.group_has_room(g)) continue;
    if (order_ == Order::kSequence && made_[g] < rules().per_group) {
      best = g;
      break;
    }
    if (!best || made_[g] < made_[*best]) best = g;
  }
  if (!best) return std::nullopt;
  ++made_[*best];
  return new_block(*best);
}

bool SourceOnly::gains(std::size_t peer, BlockId id) {
  if (spans_.size() <= peer) spans_.resize(size());
  const std::uint32_t g = group_of(id);
  const auto [at, _] = spans_[peer].try_emplace(g, rules().per_group);
  const bool innovative = at->second.insert(vector(id));
  if (at->second.full()) spans_[peer].erase(at);
  return innovative;
}

}  // namespace firn::sim
