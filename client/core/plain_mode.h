// When all generations are fetched plainly (plain_fetch.h) from their beginning: in a large mesh
// where false rows are about and nobody can judge them, neither an authority nor, as most peers
// there know none that holds what they need judged, its holders (peer_checks.h). Otherwise each
// generation would be fetched twice: it decodes to false data first.
//
// Source blocks prove themselves, so that a false one spreads no further and convicts its sender.
// That costs what coding saves, so one false generation alone, as from a peer with bad memory, does
// not begin it, and it ends when nothing false has been met for a while.
#pragma once

#include <cstdint>

#include "client/core/context.h"
#include "client/core/membership.h"
#include "client/core/trust.h"

namespace firn::core {

class PlainMode {
 public:
  PlainMode(const Context& context, const Membership& membership, const Trust& trust)
      : context_(context), membership_(membership), trust_(trust) {}

  bool on() const { return on_; }
  // Generation g has decoded to false data, or a neighbour has sent a false block of it.
  void met_false(std::uint32_t g);

  // True: it has begun or ended.
  bool step();
  TimeUs next_due() const;

 private:
  bool begins() const;

  const Context& context_;
  const Membership& membership_;
  const Trust& trust_;
  bool on_ = false;
  std::uint32_t met_ = 0;  // generations, since it was quiet
  std::uint32_t last_ = 0;
  TimeUs met_at_ = 0;  // the last time
  TimeUs ends_at_ = 0;
  TimeUs ended_at_ = 0;
  TimeUs lasts_ = 0;  // after the last that was met; 0: it was never on
};

}  // namespace firn::core
