#include "codec/measured_cost.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace firn::codec {
namespace {

constexpr double kNewShare = 0.3;  // of a new sample in the mean

}  // namespace

void MeasuredCost::add(std::size_t count, double seconds) {
  const auto bucket =
      std::min(samples_.size() - 1, static_cast<std::size_t>(std::bit_width(count)) - 1);
  Sample& sample = samples_[bucket];
  const double share = sample.count == 0 ? 1.0 : kNewShare;
  sample.count += share * (static_cast<double>(count) - sample.count);
  sample.seconds += share * (seconds - sample.seconds);
  known_ = true;
}

double MeasuredCost::estimate(std::size_t count) const {
  const auto wanted = static_cast<double>(count);
  const Sample* below = nullptr;
  for (const Sample& sample : samples_) {
    if (sample.count == 0) continue;
    if (sample.count >= wanted) {
      if (below == nullptr) return sample.seconds;
      const double part = (wanted - below->count) / (sample.count - below->count);
      return below->seconds + part * (sample.seconds - below->seconds);
    }
    below = &sample;
  }
  return below == nullptr ? 0 : below->seconds * wanted / below->count;
}

std::vector<std::pair<std::size_t, double>> MeasuredCost::known_points() const {
  std::vector<std::pair<std::size_t, double>> points;
  for (const Sample& sample : samples_) {
    if (sample.count == 0) continue;
    const auto count = static_cast<std::size_t>(std::lround(sample.count));
    points.emplace_back(count, sample.seconds * static_cast<double>(count) / sample.count);
  }
  return points;
}

}  // namespace firn::codec
