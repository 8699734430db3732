// Which drifts a frame whose both ends are known can have on its way. Given that it starts at 0 and
// ends at r, its drift before bit t has the law
//
//   Phi_t(m) Phi_{tau - t}(r - m) / Phi_tau(r)
//
// of which the smallest range is kept that excludes no more than excluded / (tau + 1): all bits of
// a frame together exclude no more than `excluded`. A codeword's lattice has the drifts of all its
// bits, and one more upward: insertions before a bit that is then deleted. On average that is half
// of the drifts of StateLimits::frame. Immutable; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "codec/sync/channel.h"
#include "codec/sync/drift.h"

namespace firn::codec::sync {

class BridgeBand {
 public:
  struct States {
    std::uint32_t first, last;  // state s is the drift s + frame.low
  };

  // Frames of N = `length` codewords of n bits, drifts inside of `frame`. Takes
  // (n N + 1) frame.size() numbers of memory, and as much time.
  BridgeBand(std::size_t n, std::size_t length, const Channel& channel, const DriftRange& frame,
             double excluded);

  // The N bands of a frame that ends at `end_drift`, which is inside of `frame`. O(n N M_tau).
  void states(int end_drift, std::vector<States>& bands) const;

 private:
  States states_before(std::size_t bit, std::size_t end_state, double excluded) const;
  const double* law(std::size_t bits) const { return laws_.data() + bits * size_; }

  std::size_t n_, length_, size_, origin_;  // size: M_tau; origin: the state of drift 0
  double excluded_;
  std::vector<double> laws_;  // Phi_t, row-major [tau + 1][M_tau], on paths inside of `frame`
};

}  // namespace firn::codec::sync
