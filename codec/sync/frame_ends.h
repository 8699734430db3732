// Where a frame may start and end: alpha_0 and beta_N as the decoders use them.
#pragma once

#include <cstddef>
#include <vector>

#include "codec/sync/drift.h"
#include "codec/sync/frame.h"
#include "codec/sync/tvb_code.h"

namespace firn::codec::sync {

struct FrameEnds {
  std::vector<double> start, end;  // over the states of `frame`, each of sum 1
  int end_drift = 0;               // where the frame ends, if only one state can be its end
  bool end_is_known = false;

  // From the problem's priors, or from where the record begins and ends; states that stand before
  // the record's first bit or behind its last get nothing. False if nothing is left of either: the
  // frame fits no state inside of the limits.
  bool set(const FrameProblem& problem, const TvbCode& code, const DriftRange& frame);
};

// The received bit at a position of the record, or kOutside.
inline constexpr unsigned kOutside = 2;
inline unsigned bit_at(const FrameProblem& problem, std::ptrdiff_t position) {
  return position >= 0 && position < static_cast<std::ptrdiff_t>(problem.received.size())
             ? problem.received[static_cast<std::size_t>(position)]
             : kOutside;
}

}  // namespace firn::codec::sync
