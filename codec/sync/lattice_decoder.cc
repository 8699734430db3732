#include "codec/sync/lattice_decoder.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace firn::codec::sync {
namespace {

// Scales to a sum of 1; false if there is nothing to scale. `sum` is what it was.
template <class Real>
bool normalise(Real* values, std::size_t count, Real& sum) {
  sum = 0;
  for (std::size_t s = 0; s < count; ++s) sum += values[s];
  if (!(sum > 0) || !std::isfinite(sum)) return false;
  for (std::size_t s = 0; s < count; ++s) values[s] /= sum;
  return true;
}

}  // namespace

template <class LatticeReal, class SumReal>
LatticeDecoder<LatticeReal, SumReal>::LatticeDecoder(std::shared_ptr<const FrameModel> model,
                                                     Form form, Storage storage)
    : FrameDecoder(model),
      form_(form),
      storage_(storage),
      q_(model->code.alphabet()),
      states_(static_cast<std::size_t>(model->limits.frame.size())),
      changes_(static_cast<std::size_t>(model->limits.codeword.size())),
      batch_(model->code.codeword_bits(), q_, model->channel, model->limits.codeword) {}

template <class LatticeReal, class SumReal>
std::unique_ptr<FrameDecoder> LatticeDecoder<LatticeReal, SumReal>::copy() const {
  return std::make_unique<LatticeDecoder>(model(), form_, storage_);
}

template <class LatticeReal, class SumReal>
void LatticeDecoder<LatticeReal, SumReal>::start_metrics(const FrameProblem& problem, std::size_t i,
                                                         int start_drift, LatticeReal* out) {
  const auto& [code, channel, limits] = *model();
  const std::size_t n = code.codeword_bits();
  const std::ptrdiff_t start = problem.origin + static_cast<std::ptrdiff_t>(n * i) + start_drift;
  const auto record_bits = static_cast<std::ptrdiff_t>(problem.received.size());
  if (start < 0 || start > record_bits) {
    std::fill_n(out, changes_ * q_, LatticeReal{0});
    return;
  }
  window_.resize(n + static_cast<std::size_t>(limits.codeword.high));
  for (std::size_t j = 0; j < window_.size(); ++j) {
    window_[j] = static_cast<std::uint8_t>(bit_at(problem, start + static_cast<std::ptrdiff_t>(j)));
  }
  if (form_ == Form::kBatch) {
    batch_.run(window_, {out, changes_ * q_});
    return;
  }
  for (int d = limits.codeword.low; d <= limits.codeword.high; ++d) {
    const std::ptrdiff_t bits = static_cast<std::ptrdiff_t>(n) + d;
    const bool fits = bits >= 0 && start + bits <= record_bits;
    for (std::size_t D = 0; D < q_; ++D) {
      *out++ = fits ? receiver_metric<LatticeReal>(
                          std::span(window_).first(static_cast<std::size_t>(bits)),
                          code.codeword(i, static_cast<Symbol>(D)), n, channel, limits.codeword)
                    : LatticeReal{0};
    }
  }
}

template <class LatticeReal, class SumReal>
void LatticeDecoder<LatticeReal, SumReal>::compute_gamma(const FrameProblem& problem, std::size_t i,
                                                         LatticeReal* out) {
  const auto& limits = model()->limits;
  if (form_ == Form::kBatch) batch_.set_codebook(model()->code.codebook(i));
  for (int m = limits.frame.low; m <= limits.frame.high; ++m) {
    start_metrics(problem, i, m, out);
    for (std::size_t d = 0; d < changes_; ++d, out += q_) {
      for (std::size_t D = 0; D < q_; ++D) {
        out[D] *= static_cast<LatticeReal>(problem.symbol_priors.empty()
                                               ? 1 / static_cast<double>(q_)
                                               : problem.symbol_priors[i * q_ + D]);
      }
    }
  }
}

template <class LatticeReal, class SumReal>
const LatticeReal* LatticeDecoder<LatticeReal, SumReal>::gamma(const FrameProblem& problem,
                                                               std::size_t i) {
  if (storage_ == Storage::kGlobal) return gamma_.data() + i * states_ * changes_ * q_;
  compute_gamma(problem, i, gamma_.data());
  return gamma_.data();
}

template <class LatticeReal, class SumReal>
template <class With>
void LatticeDecoder<LatticeReal, SumReal>::for_transitions(const LatticeReal* gamma,
                                                           With with) const {
  const int low = model()->limits.codeword.low, states = static_cast<int>(states_);
  for (int from = 0; from < states; ++from) {
    for (int d = 0; d < static_cast<int>(changes_); ++d, gamma += q_) {
      const int to = from + low + d;
      if (to >= 0 && to < states)
        with(static_cast<std::size_t>(from), static_cast<std::size_t>(to), gamma);
    }
  }
}

template <class LatticeReal, class SumReal>
bool LatticeDecoder<LatticeReal, SumReal>::forward(const FrameProblem& problem) {
  log_scale_ = 0;
  for (std::size_t i = 0; i < model()->code.length(); ++i) {
    const SumReal* const before = alpha(i);
    SumReal* const after = alpha(i + 1);
    std::fill_n(after, states_, SumReal{0});
    for_transitions(gamma(problem, i), [&](std::size_t from, std::size_t to, const auto* metrics) {
      if (before[from] == 0) return;
      SumReal sum = 0;
      for (std::size_t D = 0; D < q_; ++D) sum += metrics[D];
      after[to] += before[from] * sum;
    });
    SumReal sum;
    if (!normalise(after, states_, sum)) return false;
    log_scale_ += std::log(static_cast<double>(sum));
  }
  return true;
}

template <class LatticeReal, class SumReal>
bool LatticeDecoder<LatticeReal, SumReal>::symbol_posteriors(const LatticeReal* gamma,
                                                             std::size_t i,
                                                             FrameSolution& solution) {
  const SumReal *const before = alpha(i), *const after = beta(i + 1);
  symbol_.assign(q_, 0);
  for_transitions(gamma, [&](std::size_t from, std::size_t to, const auto* metrics) {
    const SumReal weight = before[from] * after[to];
    if (weight == 0) return;
    for (std::size_t D = 0; D < q_; ++D) symbol_[D] += weight * metrics[D];
  });
  SumReal sum;
  if (!normalise(symbol_.data(), q_, sum)) return false;
  std::copy(symbol_.begin(), symbol_.end(),
            solution.posteriors.begin() + static_cast<std::ptrdiff_t>(i * q_));
  return true;
}

template <class LatticeReal, class SumReal>
bool LatticeDecoder<LatticeReal, SumReal>::backward(const FrameProblem& problem,
                                                    FrameSolution& solution) {
  for (std::size_t i = model()->code.length(); i-- > 0;) {
    const LatticeReal* const metrics_of_i = gamma(problem, i);
    const SumReal* const after = beta(i + 1);
    SumReal* const before = beta(i);
    std::fill_n(before, states_, SumReal{0});
    for_transitions(metrics_of_i, [&](std::size_t from, std::size_t to, const auto* metrics) {
      if (after[to] == 0) return;
      SumReal sum = 0;
      for (std::size_t D = 0; D < q_; ++D) sum += metrics[D];
      before[from] += after[to] * sum;
    });
    SumReal sum;
    if (!normalise(before, states_, sum)) return false;
    if (!symbol_posteriors(metrics_of_i, i, solution)) return false;
  }
  return true;
}

template <class LatticeReal, class SumReal>
bool LatticeDecoder<LatticeReal, SumReal>::boundary_posterior(
    std::size_t i, std::vector<double>& posterior) const {
  posterior.resize(states_);
  for (std::size_t s = 0; s < states_; ++s) {
    posterior[s] =
        static_cast<double>(alpha_[i * states_ + s]) * static_cast<double>(beta_[i * states_ + s]);
  }
  double sum;
  return normalise(posterior.data(), states_, sum);
}

template <class LatticeReal, class SumReal>
void LatticeDecoder<LatticeReal, SumReal>::decode(const FrameProblem& problem,
                                                  FrameSolution& solution) {
  const auto& [code, channel, limits] = *model();
  const std::size_t N = code.length();
  solution.status = FrameStatus::kDriftOutside;
  if (!ends_.set(problem, code, limits.frame)) return;
  solution.status = FrameStatus::kMassLost;
  solution.posteriors.resize(N * q_);
  alpha_.resize((N + 1) * states_);
  beta_.resize((N + 1) * states_);
  std::copy(ends_.start.begin(), ends_.start.end(), alpha(0));
  std::copy(ends_.end.begin(), ends_.end.end(), beta(N));
  const std::size_t kept = storage_ == Storage::kGlobal ? N : 1;
  gamma_.resize(kept * states_ * changes_ * q_);
  if (storage_ == Storage::kGlobal) {
    for (std::size_t i = 0; i < N; ++i) {
      compute_gamma(problem, i, gamma_.data() + i * states_ * changes_ * q_);
    }
  }
  if (!forward(problem) || !backward(problem, solution)) return;
  const std::size_t end = std::min(problem.end_boundary, N);
  if (!boundary_posterior(0, solution.start_posterior)) return;
  if (!boundary_posterior(end, solution.end_posterior)) return;
  double joint = 0;
  for (std::size_t s = 0; s < states_; ++s) {
    joint += static_cast<double>(alpha(N)[s]) * static_cast<double>(beta(N)[s]);
  }
  solution.log_likelihood = log_scale_ + std::log(joint);
  solution.status = FrameStatus::kDecoded;
}

template class LatticeDecoder<float, float>;
template class LatticeDecoder<float, double>;
template class LatticeDecoder<double, double>;

}  // namespace firn::codec::sync
