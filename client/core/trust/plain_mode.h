// Decides when all generations are fetched plainly (plain_fetch.h) from their beginning: in a large
// mesh, where nobody near can judge rows, from the first false row on. Otherwise each generation
// would be fetched twice: it would decode to false data first.
//
// Source blocks prove themselves, so that a false one spreads no further and convicts its sender.
// That costs what coding saves, so the mode ends when nothing false has been met for a while.
#pragma once

#include "client/core/trust/regime.h"

namespace firn::core::trust {

// In a large mesh a peer fetches all generations plainly once it has met a false row. The mode ends
// kPlainModeTime after the last false row; where it begins again within kPlainModeMemory of its
// end, it lasts twice as long, up to kPlainModeMax. Meanwhile as many generations are fetched at a
// time as a State can name (limits::kWantedBlocksMax) [079]. Less: polluters are met anew; more:
// coding saves nothing for longer.
inline constexpr TimeUs kPlainModeMemory = 60 * kSecond;
inline constexpr TimeUs kPlainModeTime = 600 * kSecond;

class PlainMode {
 public:
  PlainMode(const World& world, const Regime& regime) : world_(world), regime_(regime) {}

  bool on() const { return on_; }
  // A generation has decoded to false data, or a neighbour has sent a false block.
  void met_false();

  // True: it has begun or ended.
  bool step();
  TimeUs next_due() const;

 private:
  const World& world_;
  const Regime& regime_;
  bool on_ = false;
  TimeUs ends_at_ = 0;  // off: false rows that were met until then begin it
  TimeUs ended_at_ = 0;
  TimeUs lasts_ = 0;  // after the last that was met; 0: it was never on
};

}  // namespace firn::core::trust
