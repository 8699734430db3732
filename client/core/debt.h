// What a neighbour was given beyond what it has paid for with new rows. Only in a small mesh, where
// each peer has news for each other one; in a large one some have none for those nearer to the
// source.
//
// A new row pays for several blocks, and what is owed beyond that is forgiven. So a peer with a
// slow uplink that brings one row for ten stays ahead of what it gets, although it may bring none
// for a while. If it did not, peers with fast uplinks would soon pass over the slow ones, these
// would lack most and be served by each other alone, and what the source gives to them would reach
// nobody else [069].
#pragma once

#include <algorithm>
#include <cstdint>

#include "client/core/policy/constants.h"

namespace firn::core {

class Debt {
 public:
  // It has brought a new row, and has been sent `blocks_sent` so far. `saves`: the row may pay for
  // later blocks as well.
  void repaid(std::uint64_t blocks_sent, bool saves) {
    const std::uint64_t saved =
        std::min(paid_for_ + policy::kDebtRepaid, blocks_sent + policy::kDebtSaved);
    paid_for_ = saves ? std::max(saved, blocks_sent) : blocks_sent;
    owed_before_ = 0;
  }
  // Blocks that it owes from before it was sent any (predecessors.h).
  void begin_with(std::uint64_t owed) { owed_before_ = owed; }
  // It has brought too little for the `blocks_sent` that it has been sent so far.
  bool over(std::uint64_t blocks_sent) const {
    return blocks_sent + owed_before_ >= paid_for_ + policy::kDebtMax;
  }

 private:
  std::uint64_t paid_for_ = 0;  // blocks that it may have been sent before it owes any
  std::uint64_t owed_before_ = 0;
};

}  // namespace firn::core
