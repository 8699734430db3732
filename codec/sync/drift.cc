#include "codec/sync/drift.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace firn::codec::sync {
namespace {

// log n!. The C library's lgamma writes a global variable, and this may run on any thread.
double log_factorial(std::size_t n) {
  constexpr std::size_t kSummed = 32;
  double value = 0;
  if (n < kSummed) {
    for (std::size_t i = 2; i <= n; ++i) value += std::log(static_cast<double>(i));
    return value;
  }
  // Stirling's series; the next term is below 1e-17.
  const double x = static_cast<double>(n), inverse = 1 / x, square = inverse * inverse;
  constexpr double kHalfLogTwoPi = 0.91893853320467274178;
  return (x + 0.5) * std::log(x) - x + kHalfLogTwoPi +
         inverse *
             (1.0 / 12 -
              square * (1.0 / 360 - square * (1.0 / 1260 - square * (1.0 / 1680 - square / 1188))));
}

double log_choose(std::size_t n, std::size_t k) {
  return log_factorial(n) - log_factorial(k) - log_factorial(n - k);
}

double log_power(double base, std::size_t exponent) {
  return exponent == 0 ? 0 : static_cast<double>(exponent) * std::log(base);
}

constexpr double kNegligible = 1e-18;  // of the sum so far: what is left of a falling series
constexpr int kDriftMax = 1 << 20;     // where no channel of use goes

// The drifts on one side of a range, by the probabilities of the two next to it.
struct Tail {
  double first, second;

  // Their sum is at most this: the law is log-concave, as it is that of a sum of Bernoulli and
  // geometric variables, so that each ratio of neighbours is below the one before.
  double most() const {
    if (first == 0) return 0;
    return second < first ? first / (1 - second / first) : 1;
  }
};

}  // namespace

DriftLosses pass_insertions(std::vector<double>& nodes, const Channel& channel) {
  for (std::size_t k = 1; k < nodes.size(); ++k) nodes[k] += channel.insertion * nodes[k - 1];
  return {0, channel.insertion * nodes.back()};
}

DriftLosses pass_bit(std::vector<double>& nodes, const Channel& channel) {
  const DriftLosses losses{channel.deletion * nodes.front(), 0};
  for (std::size_t k = 0; k + 1 < nodes.size(); ++k) {
    nodes[k] = channel.transmission() * nodes[k] + channel.deletion * nodes[k + 1];
  }
  nodes.back() *= channel.transmission();
  return losses;
}

DriftLaw::DriftLaw(std::size_t bits, const Channel& channel) : bits_(bits), channel_(channel) {
  assert(channel.valid());
}

double DriftLaw::probability(int drift) const {
  if (bits_ == 0) return drift == 0 ? 1 : 0;
  const auto T = bits_;
  double sum = 0, previous = 0;
  const std::size_t first = drift < 0 ? static_cast<std::size_t>(-drift) : 0;
  for (std::size_t deletions = first; deletions <= T; ++deletions) {
    const auto insertions =
        static_cast<std::size_t>(static_cast<std::ptrdiff_t>(deletions) + drift);
    if (deletions > 0 && channel_.deletion == 0) break;
    if (insertions > 0 && channel_.insertion == 0) break;
    double log_term = log_choose(T, deletions) + log_power(channel_.deletion, deletions) +
                      log_power(channel_.transmission(), T - deletions);
    if (insertions > 0) {
      log_term +=
          log_choose(T + insertions - 1, insertions) + log_power(channel_.insertion, insertions);
    }
    const double term = std::exp(log_term);
    sum += term;
    // Terms rise to one maximum, then fall.
    if (term < previous && term < kNegligible * sum) break;
    previous = term;
  }
  return sum;
}

DriftRange DriftLaw::range(double excluded) const {
  assert(excluded > 0);
  DriftRange range;
  double inside = probability(0);
  Tail below{probability(-1), probability(-2)}, above{probability(1), probability(2)};
  // What lies outside by what lies inside; over ten thousand bits and more that is never small, as
  // the probabilities' errors add up, but the tails are.
  while (1 - inside > excluded && below.most() + above.most() > excluded &&
         range.size() < kDriftMax) {
    if (below.first >= above.first) {
      inside += below.first;
      --range.low;
      below = {below.second, probability(range.low - 2)};
    } else {
      inside += above.first;
      ++range.high;
      above = {above.second, probability(range.high + 2)};
    }
  }
  return range;
}

}  // namespace firn::codec::sync
