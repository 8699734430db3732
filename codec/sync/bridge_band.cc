#include "codec/sync/bridge_band.h"

#include <algorithm>
#include <cassert>

namespace firn::codec::sync {

BridgeBand::BridgeBand(std::size_t n, std::size_t length, const Channel& channel,
                       const DriftRange& frame, double excluded)
    : n_(n),
      length_(length),
      size_(static_cast<std::size_t>(frame.size())),
      origin_(static_cast<std::size_t>(-frame.low)),
      excluded_(excluded) {
  std::vector<double> nodes(size_, 0);
  nodes[origin_] = 1;
  laws_.reserve((n * length + 1) * size_);
  for (std::size_t bit = 0;; ++bit) {
    laws_.insert(laws_.end(), nodes.begin(), nodes.end());
    if (bit == n * length) return;
    pass_insertions(nodes, channel);
    pass_bit(nodes, channel);
  }
}

// The smallest range: states are taken off the end where they weigh less, while they may.
BridgeBand::States BridgeBand::states_before(std::size_t bit, std::size_t end_state,
                                             double excluded) const {
  const double *const before = law(bit), *const after = law(n_ * length_ - bit);
  // From state s the rest of the frame changes the drift by end_state - s.
  const auto weight = [&](std::size_t s) {
    const std::size_t change = origin_ + end_state - s;
    return origin_ + end_state >= s && change < size_ ? before[s] * after[change] : 0;
  };
  std::size_t first = 0, last = size_ - 1;
  double first_weight = weight(first), last_weight = weight(last), left_out = 0;
  while (first < last) {
    if (first_weight <= last_weight) {
      left_out += first_weight;
      if (left_out > excluded) break;
      first_weight = weight(++first);
    } else {
      left_out += last_weight;
      if (left_out > excluded) break;
      last_weight = weight(--last);
    }
  }
  return {static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last)};
}

void BridgeBand::states(int end_drift, std::vector<States>& bands) const {
  const std::size_t end_state = static_cast<std::size_t>(static_cast<int>(origin_) + end_drift);
  assert(end_state < size_);
  const std::size_t bits = n_ * length_;
  const double excluded = excluded_ * law(bits)[end_state] / static_cast<double>(bits + 1);
  const auto top = static_cast<std::uint32_t>(size_ - 1);
  bands.assign(length_, {top, 0});
  for (std::size_t bit = 0; bit <= bits; ++bit) {
    const States here = states_before(bit, end_state, excluded);
    const auto widen = [&](States& band) {
      band.first = std::min(band.first, here.first);
      band.last = std::max(band.last, std::min(here.last + 1, top));
    };
    if (bit < bits) widen(bands[bit / n_]);
    if (bit > 0 && bit % n_ == 0) widen(bands[bit / n_ - 1]);
  }
}

}  // namespace firn::codec::sync
