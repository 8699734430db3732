#include "codec/sync/limits.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <vector>

namespace firn::codec::sync {
namespace {

void grow(DriftRange& range, const DriftLosses& losses) {
  if (losses.below > losses.above) {
    --range.low;
  } else {
    ++range.high;
  }
}

// `bits` bits from drift 0, on paths inside of `range`: where they end, and what was lost.
DriftLosses pass(std::vector<double>& nodes, std::size_t bits, const Channel& channel,
                 const DriftRange& range) {
  nodes.assign(static_cast<std::size_t>(range.size()), 0);
  nodes[static_cast<std::size_t>(-range.low)] = 1;
  DriftLosses losses;
  for (std::size_t bit = 0; bit < bits; ++bit) {
    losses.above += pass_insertions(nodes, channel).above;
    losses.below += pass_bit(nodes, channel).below;
  }
  return losses;
}

double sum_of(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// What paths over `length` codewords lose at their boundaries, given the law of one codeword's
// change; and in `corridor_lost` what they lose inside of them.
DriftLosses boundary_losses(std::size_t length, const StateLimits& limits,
                            const std::vector<double>& law, double lost_in_corridor,
                            double& corridor_lost) {
  const int size = limits.frame.size();
  std::vector<double> now(static_cast<std::size_t>(size), 0), next(now);
  now[static_cast<std::size_t>(-limits.frame.low)] = 1;
  DriftLosses losses;
  corridor_lost = 0;
  for (std::size_t i = 0; i < length; ++i) {
    corridor_lost += lost_in_corridor * sum_of(now);
    std::fill(next.begin(), next.end(), 0);
    for (int from = 0; from < size; ++from) {
      const double mass = now[static_cast<std::size_t>(from)];
      if (mass == 0) continue;
      for (int d = 0; d < limits.codeword.size(); ++d) {
        const int to = from + limits.codeword.low + d;
        const double moved = mass * law[static_cast<std::size_t>(d)];
        if (to < 0) {
          losses.below += moved;
        } else if (to >= size) {
          losses.above += moved;
        } else {
          next[static_cast<std::size_t>(to)] += moved;
        }
      }
    }
    now.swap(next);
  }
  return losses;
}

}  // namespace

bool StateLimits::valid() const {
  return codeword.low <= 0 && codeword.high >= 0 && frame.low <= codeword.low &&
         frame.high >= codeword.high;
}

StateLimits endpoint_limits(std::size_t n, std::size_t length, const Channel& channel,
                            double excluded) {
  StateLimits limits{DriftLaw(n, channel).range(excluded),
                     DriftLaw(n * length, channel).range(excluded)};
  limits.frame.low = std::min(limits.frame.low, limits.codeword.low);
  limits.frame.high = std::max(limits.frame.high, limits.codeword.high);
  return limits;
}

StateLimits rigorous_limits(std::size_t n, std::size_t length, const Channel& channel,
                            double excluded) {
  assert(excluded > 0);
  // Half of the probability for the corridor, the rest for the boundaries.
  StateLimits limits;
  std::vector<double> law;
  DriftLosses in_codeword = pass(law, n, channel, limits.codeword);
  while (static_cast<double>(length) * in_codeword.sum() > excluded / 2) {
    grow(limits.codeword, in_codeword);
    in_codeword = pass(law, n, channel, limits.codeword);
  }
  limits.frame = DriftLaw(n * length, channel).range(excluded / 4);
  limits.frame.low = std::min(limits.frame.low, limits.codeword.low);
  limits.frame.high = std::max(limits.frame.high, limits.codeword.high);
  while (true) {
    double corridor_lost = 0;
    const DriftLosses losses =
        boundary_losses(length, limits, law, in_codeword.sum(), corridor_lost);
    if (losses.sum() + corridor_lost <= excluded) break;
    grow(limits.frame, losses);
  }
  while (true) {
    std::vector<double> nodes;
    const DriftLosses losses = pass(nodes, n * length, channel, limits.frame);
    if (losses.sum() <= excluded) return limits;
    grow(limits.frame, losses);
  }
}

double corridor_exclusion(std::size_t n, std::size_t length, const Channel& channel,
                          const StateLimits& limits) {
  std::vector<double> law;
  const DriftLosses in_codeword = pass(law, n, channel, limits.codeword);
  double corridor_lost = 0;
  const DriftLosses losses = boundary_losses(length, limits, law, in_codeword.sum(), corridor_lost);
  return losses.sum() + corridor_lost;
}

double band_exclusion(std::size_t bits, const Channel& channel, const DriftRange& range) {
  std::vector<double> nodes;
  return pass(nodes, bits, channel, range).sum();
}

}  // namespace firn::codec::sync
