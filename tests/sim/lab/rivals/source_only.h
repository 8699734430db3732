// Coding at the source only, as Avalanche's authors compared with (Gkantsidis, Rodriguez 2005): the
// source sends a fresh combination of a generation every time, and any n innovative ones decode it;
// peers pass on the coded blocks they hold, and never combine them. Vectors are drawn from the
// whole field, and what is innovative is decided by their rank.
#pragma once

#include <map>

#include "codec/span_basis.h"
#include "tests/sim/lab/rivals/rival_swarm.h"

namespace firn::sim {

class SourceOnly : public RivalSwarm {
 public:
  // kSequence: all blocks of a generation that it needs, then the next; what comes after goes where
  // least was sent. kSpread: a block of each generation in turn.
  enum class Order { kSequence, kSpread };
  SourceOnly(const RivalRules& rules, Order order, std::uint64_t seed);

  // The coding vector of a block.
  std::vector<std::uint8_t> vector(BlockId id) const;

 protected:
  bool source_chooses() const override { return true; }
  std::optional<BlockId> source_block(std::size_t to) override;
  bool gains(std::size_t peer, BlockId id) override;

 private:
  const Order order_;
  const std::uint64_t seed_;
  std::vector<std::uint32_t> made_;                               // of each generation
  std::vector<std::map<std::uint32_t, codec::SpanBasis>> spans_;  // by peer and generation
};

}  // namespace firn::sim
