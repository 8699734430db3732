// The receiver metric R(y|x): the probability that the channel makes y of the n bits of x, and
// inserts nothing after the last. It is the last node of a lattice (Briffa 2014, eq. 7 to 10):
//
//   F_{0,0} = 1,  F_{i,j} = (P_i/2) F_{i,j-1} + P_d F_{i-1,j} + Q(y_j|x_i) F_{i-1,j-1}
//
// without the first term in row n, and 0 outside of the corridor low <= j - i <= high. Bits that
// the record does not hold (kOutside) make Q and the insertion 0. Real is float or double. Any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/sync/channel.h"
#include "codec/sync/drift.h"

namespace firn::codec::sync {

// One lattice for one y: bits 0, 1 or kOutside, and x the low n bits of a word. O(n M_n).
template <class Real>
Real receiver_metric(std::span<const std::uint8_t> y, std::uint32_t x, std::size_t n,
                     const Channel& channel, const DriftRange& corridor);

// The lattices of all words of a codebook side by side, for one start: R for every length of y.
// Keeps its memory from call to call; one thread at a time.
template <class Real>
class BatchMetric {
 public:
  BatchMetric(std::size_t n, std::size_t q, const Channel& channel, const DriftRange& corridor);

  // The codebook of the calls that follow, q words.
  void set_codebook(std::span<const std::uint32_t> words);
  // metrics[(d - low) * q + D] = R(y_1 .. y_{n+d} | C(D)) for each d of the corridor. y holds the
  // n + high bits behind the start: 0, 1 or kOutside.
  void run(std::span<const std::uint8_t> y, std::span<Real> metrics);

 private:
  void first_row(std::span<const std::uint8_t> y);
  void row(std::size_t i, std::span<const std::uint8_t> y);

  std::size_t n_, q_;
  DriftRange corridor_;
  Real insertion_, deletion_, match_, mismatch_;
  std::vector<Real> q_of_;   // Q(v | bit i of C(D)), [n][2][q]
  std::vector<Real> nodes_;  // the row in work, [M_n][q]
};

}  // namespace firn::codec::sync
