#include "client/medium/loss_model.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace firn::medium {
namespace {

constexpr double kFlipWeight = 1.4;
// A count of none stands for half a frame.
constexpr double kHalfFrame = 0.5;
constexpr double kLogLossMin = -70;
constexpr double kHalfByte = 0.5;

double log_share(std::uint64_t lost, std::uint64_t frames) {
  return std::log((static_cast<double>(lost) + kHalfFrame) / static_cast<double>(frames));
}

// The line through two points, at x.
double on_line(double x0, double y0, double x1, double y1, double x) {
  return y0 + (y1 - y0) * (x - x0) / (x1 - x0);
}

// ln of the frame loss at a measured rate.
std::optional<double> log_loss(const MeasuredLosses& cell, unsigned parity) {
  if (cell.lost.size() < 2) return std::nullopt;
  if (parity < cell.lost.front().first) return 0.0;
  std::size_t i = 1;
  while (i + 1 < cell.lost.size() && cell.lost[i].first < parity) ++i;
  const auto& [p0, lost0] = cell.lost[i - 1];
  const auto& [p1, lost1] = cell.lost[i];
  return on_line(p0, log_share(lost0, cell.frames), p1, log_share(lost1, cell.frames), parity);
}

// The parity with which a share of exp(`log_share`) is lost at a measured rate; never less than the
// smallest one that was measured.
double parity_for(const MeasuredLosses& cell, double target) {
  const auto y = [&](std::size_t i) { return log_share(cell.lost[i].second, cell.frames); };
  std::size_t i = 0;
  while (i < cell.lost.size() && y(i) > target) ++i;
  if (i == 0) return cell.lost[0].first;
  i = std::min(i, cell.lost.size() - 1);
  const double from = y(i - 1), to = y(i);
  if (to >= from) return std::numeric_limits<double>::infinity();
  return on_line(from, cell.lost[i - 1].first, to, cell.lost[i].first, target);
}

// ln of the frame loss between two measured rates: there the parity for each share of losses is a
// power of the rate [045], counted from a half below none.
double log_loss_between(const MeasuredLosses& below, const MeasuredLosses& above, double rate,
                        unsigned parity) {
  const auto needed = [&](double target) {
    return on_line(std::log(below.rate), std::log(parity_for(below, target) + kHalfByte),
                   std::log(above.rate), std::log(parity_for(above, target) + kHalfByte),
                   std::log(rate));
  };
  const double given = std::log(parity + kHalfByte);
  if (needed(0) > given) return 0;
  double low = kLogLossMin, high = 0;
  while (high - low > 1e-6) {
    const double middle = (low + high) / 2;
    (needed(middle) > given ? low : high) = middle;
  }
  return high;
}

}  // namespace

std::vector<InnerShape> measured_shapes() {
  std::vector<InnerShape> shapes;
  for (const MeasuredLosses& cell : measured_losses())
    if (std::find(shapes.begin(), shapes.end(), cell.shape) == shapes.end())
      shapes.push_back(cell.shape);
  return shapes;
}

double equivalent_rate(const Rates& rates) {
  return (rates.insertion + rates.deletion) / 2 + kFlipWeight * rates.substitution;
}

std::optional<double> frame_loss(const InnerShape& shape, double rate, unsigned parity) {
  const MeasuredLosses* below = nullptr;
  for (const MeasuredLosses& cell : measured_losses()) {
    if (cell.shape != shape) continue;
    if (cell.rate < rate) {
      below = &cell;
      continue;
    }
    if (below == nullptr || cell.rate == rate) {
      const auto there = log_loss(cell, parity);
      return there ? std::optional(std::min(1.0, std::exp(*there))) : std::nullopt;
    }
    if (cell.lost.size() < 2 || below->lost.size() < 2) return std::nullopt;
    return std::exp(log_loss_between(*below, cell, rate, parity));
  }
  return std::nullopt;
}

double generation_loss(std::uint32_t n, std::uint32_t rows, double loss) {
  if (rows < n) return 1;
  if (loss <= 0) return 0;
  double sum = 0;
  for (std::uint32_t lost = 1; lost <= rows; ++lost) {
    const double log_chance = std::lgamma(rows + 1.0) - std::lgamma(lost + 1.0) -
                              std::lgamma(rows - lost + 1.0) + lost * std::log(loss) +
                              (rows - lost) * std::log1p(-loss);
    // What is left has full rank but for about 256^-(e + 1), with e rows more than needed.
    const double fails =
        lost > rows - n ? 1 : std::pow(256.0, -static_cast<double>(rows - n - lost + 1));
    const double term = std::exp(log_chance) * fails;
    sum += term;
    if (lost > rows - n && lost > 2 * loss * rows && term < 1e-6 * sum) break;
  }
  return std::min(1.0, sum);
}

}  // namespace firn::medium
