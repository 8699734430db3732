// How far the channel drifts: the exact law of S_T, the number of received bits less the number of
// sent ones, over T bits. Its generating function is ((P_d / z + P_t) / (1 - P_i z))^T, so
//
//   Phi_T(m) = sum_{j >= max(0, -m)} C(T, j) P_d^j P_t^(T-j) C(T + m + j - 1, m + j) P_i^(m + j)
//
// with j deletions and m + j insertions. Immutable; any thread.
#pragma once

#include <cstddef>
#include <vector>

#include "codec/sync/channel.h"

namespace firn::codec::sync {

// Drifts from low to high, both included; low <= 0 <= high where it bounds a state space.
struct DriftRange {
  int low = 0, high = 0;

  int size() const { return high - low + 1; }
  bool contains(int drift) const { return low <= drift && drift <= high; }
  bool operator==(const DriftRange&) const = default;
};

// Probability that left a range of drifts, by the side on which it did.
struct DriftLosses {
  double below = 0, above = 0;
  double sum() const { return below + above; }
};

// The events of one bit, in place, for paths inside of a range: nodes[d - low] is the probability
// that a path passes the drift d. First insertions, then the bit's transmission or deletion; both
// give what left the range.
DriftLosses pass_insertions(std::vector<double>& nodes, const Channel& channel);
DriftLosses pass_bit(std::vector<double>& nodes, const Channel& channel);

class DriftLaw {
 public:
  // The channel is valid.
  DriftLaw(std::size_t bits, const Channel& channel);

  // Pr{S_T = drift}, to a relative error of about 1e-11.
  double probability(int drift) const;

  // The smallest range around 0, grown each time on the side with the larger probability, outside
  // of which S_T lies with at most the probability `excluded` (> 0).
  DriftRange range(double excluded) const;

 private:
  std::size_t bits_;
  Channel channel_;
};

}  // namespace firn::codec::sync
