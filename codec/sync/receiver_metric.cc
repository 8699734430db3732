#include "codec/sync/receiver_metric.h"

#include <algorithm>
#include <cassert>

#include "codec/sync/frame_ends.h"

namespace firn::codec::sync {

template <class Real>
Real receiver_metric(std::span<const std::uint8_t> y, std::uint32_t x, std::size_t n,
                     const Channel& channel, const DriftRange& corridor) {
  const auto insertion = static_cast<Real>(channel.insertion / 2);
  const auto deletion = static_cast<Real>(channel.deletion);
  const auto match = static_cast<Real>(channel.match());
  const auto mismatch = static_cast<Real>(channel.mismatch());
  const std::size_t columns = y.size() + 1;
  std::vector<Real> above(columns, 0), row(columns, 0);
  for (std::size_t i = 0; i <= n; ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      row[j] = i == 0 && j == 0 ? Real{1} : Real{0};
      if (!corridor.contains(static_cast<int>(j) - static_cast<int>(i))) continue;
      const unsigned bit = j > 0 ? y[j - 1] : kOutside;
      if (i > 0) row[j] += deletion * above[j];
      if (bit == kOutside) continue;
      if (i > 0) row[j] += ((x >> (i - 1) & 1) == bit ? match : mismatch) * above[j - 1];
      if (i < n) row[j] += insertion * row[j - 1];
    }
    above.swap(row);
  }
  return above.back();
}

template <class Real>
BatchMetric<Real>::BatchMetric(std::size_t n, std::size_t q, const Channel& channel,
                               const DriftRange& corridor)
    : n_(n),
      q_(q),
      corridor_(corridor),
      insertion_(static_cast<Real>(channel.insertion / 2)),
      deletion_(static_cast<Real>(channel.deletion)),
      match_(static_cast<Real>(channel.match())),
      mismatch_(static_cast<Real>(channel.mismatch())),
      q_of_(n * 2 * q),
      nodes_(static_cast<std::size_t>(corridor.size()) * q) {}

template <class Real>
void BatchMetric<Real>::set_codebook(std::span<const std::uint32_t> words) {
  assert(words.size() == q_);
  for (std::size_t i = 0; i < n_; ++i) {
    for (std::uint32_t bit = 0; bit < 2; ++bit) {
      Real* const row = q_of_.data() + (2 * i + bit) * q_;
      for (std::size_t D = 0; D < q_; ++D) {
        row[D] = (words[D] >> i & 1) == bit ? match_ : mismatch_;
      }
    }
  }
}

template <class Real>
void BatchMetric<Real>::first_row(std::span<const std::uint8_t> y) {
  std::fill(nodes_.begin(), nodes_.end(), Real{0});
  Real weight = 1;
  for (int d = 0; d <= corridor_.high; ++d) {
    if (d > 0 && y[static_cast<std::size_t>(d - 1)] == kOutside) return;
    std::fill_n(nodes_.begin() + (d - corridor_.low) * static_cast<std::ptrdiff_t>(q_), q_, weight);
    weight *= insertion_;
  }
}

template <class Real>
void BatchMetric<Real>::row(std::size_t i, std::span<const std::uint8_t> y) {
  for (int d = corridor_.low; d <= corridor_.high; ++d) {
    Real* __restrict node = nodes_.data() + static_cast<std::size_t>(d - corridor_.low) * q_;
    const std::ptrdiff_t j = static_cast<std::ptrdiff_t>(i) + d;
    if (j < 0) {
      std::fill_n(node, q_, Real{0});
      continue;
    }
    const unsigned bit = j > 0 ? y[static_cast<std::size_t>(j - 1)] : kOutside;
    const bool inside = bit != kOutside;
    const bool deletes = d < corridor_.high, inserts = inside && i < n_ && d > corridor_.low;
    // A term that does not exist has the factor 0 and the node itself, which is finite.
    const Real deletion = deletes ? deletion_ : Real{0};
    const Real insertion = inserts ? insertion_ : Real{0};
    const Real transmission = inside ? Real{1} : Real{0};
    const Real* const above = deletes ? node + q_ : node;
    const Real* const left = inserts ? node - q_ : node;
    const Real* const match = q_of_.data() + (2 * (i - 1) + (inside ? bit : 0)) * q_;
    for (std::size_t D = 0; D < q_; ++D) {
      node[D] = transmission * match[D] * node[D] + deletion * above[D] + insertion * left[D];
    }
  }
}

template <class Real>
void BatchMetric<Real>::run(std::span<const std::uint8_t> y, std::span<Real> metrics) {
  assert(y.size() == n_ + static_cast<std::size_t>(corridor_.high));
  assert(metrics.size() == nodes_.size());
  first_row(y);
  for (std::size_t i = 1; i <= n_; ++i) row(i, y);
  std::copy(nodes_.begin(), nodes_.end(), metrics.begin());
}

template float receiver_metric<float>(std::span<const std::uint8_t>, std::uint32_t, std::size_t,
                                      const Channel&, const DriftRange&);
template double receiver_metric<double>(std::span<const std::uint8_t>, std::uint32_t, std::size_t,
                                        const Channel&, const DriftRange&);
template class BatchMetric<float>;
template class BatchMetric<double>;

}  // namespace firn::codec::sync
