#include "codec/sync/superposed_decoder.h"

#include <algorithm>
#include <cmath>

#include "codec/sync/flush_denormals.h"

namespace firn::codec::sync {
namespace {

// Single precision loses mass where a path's probability leaves its range. Then indices disagree
// about the frame's likelihood, by about as much as posteriors are wrong. Rounding alone moves its
// logarithm by less than this (note 043).
double agreement(std::size_t length) {
  return 1e-5 + 2e-8 * static_cast<double>(length);
}

}  // namespace

template <class Real>
SuperposedDecoder<Real>::SuperposedDecoder(std::shared_ptr<const FrameModel> model,
                                           const LatticeKernels& kernels,
                                           std::shared_ptr<const BridgeBand> bridge)
    : FrameDecoder(model), bridge_(std::move(bridge)) {
  if constexpr (std::is_same_v<Real, float>) {
    operations_ = &kernels.single_precision;
  } else {
    operations_ = &kernels.double_precision;
  }
  tables_ =
      std::make_shared<const SuperposedTables<Real>>(model->code, model->channel, *operations_);
  const std::size_t lanes = tables_->lanes(), N = model->code.length();
  states_ = static_cast<std::size_t>(model->states());
  stride_ = (states_ + 2 * lanes - 1) / lanes * lanes;
  alpha_.resize((N + 1) * stride_);
  beta_.resize(stride_);
  priors_.resize(tables_->width());
  joint_.resize(tables_->width());
  work_.resize((2 * states_ + lanes) * lanes);
  all_states_.assign(N, {0, static_cast<std::uint32_t>(states_ - 1)});
  log_alpha_.resize(N + 1);
  log_mass_.resize(N);
}

template <class Real>
std::unique_ptr<FrameDecoder> SuperposedDecoder<Real>::copy() const {
  return std::unique_ptr<FrameDecoder>(new SuperposedDecoder(*this));
}

template <class Real>
void SuperposedDecoder<Real>::choose_bands(const FrameProblem& problem) {
  const bool known_ends = problem.start_prior.empty() && problem.end_prior.empty();
  bands_ = all_states_.data();
  if (bridge_ == nullptr || !known_ends) return;
  auto& bridge = bridges_[ends_.end_drift];
  if (bridge.empty()) bridge_->states(ends_.end_drift, bridge);
  bands_ = bridge.data();
}

// The symbol at [e] is the bit received[origin + m_tau- + e], which transition k of index i passes
// at state s if e = n i + k + s.
template <class Real>
void SuperposedDecoder<Real>::read_symbols(const FrameProblem& problem) {
  const std::size_t count = model()->code.frame_bits() + states_ - 1;
  symbols_.resize(count);
  reversed_symbols_.resize(count);
  const std::ptrdiff_t start = problem.origin + model()->limits.frame.low;
  for (std::size_t e = 0; e < count; ++e) {
    const unsigned bit = bit_at(problem, start + static_cast<std::ptrdiff_t>(e));
    symbols_[e] = static_cast<std::int32_t>(bit * tables_->lanes());
  }
  std::reverse_copy(symbols_.begin(), symbols_.end(), reversed_symbols_.begin());
}

template <class Real>
void SuperposedDecoder<Real>::set_priors(std::span<const double> priors) {
  const std::size_t q = model()->code.alphabet();
  for (std::size_t D = 0; D < q; ++D) {
    priors_[D] = static_cast<Real>(priors.empty() ? 1 / static_cast<double>(q) : priors[D]);
  }
}

template <class Real>
LatticePass<Real> SuperposedDecoder<Real>::pass(const FrameProblem& problem, std::size_t i) {
  const std::size_t q = model()->code.alphabet();
  if (!problem.symbol_priors.empty()) set_priors(problem.symbol_priors.subspan(i * q, q));
  LatticePass<Real> pass{};
  pass.nodes = bands_[i].last - bands_[i].first + 1;
  pass.chunks = tables_->chunks();
  pass.sweeps = tables_->sweeps().data();
  pass.sweep_count = tables_->sweeps().size();
  pass.insertion = tables_->insertion();
  pass.deletion = tables_->deletion();
  pass.priors = priors_.data();
  pass.work = work_.data();
  pass.joint = joint_.data();
  return pass;
}

template <class Real>
bool SuperposedDecoder<Real>::forward(const FrameProblem& problem) {
  const TvbCode& code = model()->code;
  log_alpha_[0] = 0;
  for (std::size_t i = 0; i < code.length(); ++i) {
    const auto [first, last] = bands_[i];
    LatticePass<Real> lattice = pass(problem, i);
    lattice.insert_first = true;
    lattice.first_row = alpha(i) + first;
    lattice.symbols = symbols_.data() + code.codeword_bits() * i + first;
    lattice.table = tables_->forward(code.book_index(i));
    Real* const next = alpha(i + 1);
    lattice.row_sums = next + first;
    operations_->pass(lattice);
    std::fill(next, next + first, Real{0});
    std::fill(next + last + 1, next + stride_, Real{0});
    const Real sum = operations_->normalise(next + first, lattice.nodes);
    if (!(sum > 0) || !std::isfinite(sum)) return false;
    log_alpha_[i + 1] = log_alpha_[i] + std::log(static_cast<double>(sum)) + tables_->log_scale();
  }
  return true;
}

template <class Real>
double SuperposedDecoder<Real>::symbol_posteriors(std::size_t i, FrameSolution& solution) const {
  const std::size_t q = model()->code.alphabet();
  double sum = 0;
  for (std::size_t D = 0; D < q; ++D) sum += static_cast<double>(joint_[D]);
  if (!(sum > 0) || !std::isfinite(sum)) return 0;
  double* const posteriors = solution.posteriors.data() + i * q;
  for (std::size_t D = 0; D < q; ++D) posteriors[D] = static_cast<double>(joint_[D]) / sum;
  return sum;
}

template <class Real>
bool SuperposedDecoder<Real>::boundary_posterior(std::size_t i,
                                                 std::vector<double>& posterior) const {
  posterior.resize(states_);
  double sum = 0;
  for (std::size_t s = 0; s < states_; ++s) {
    posterior[s] = static_cast<double>(alpha(i)[s]) * static_cast<double>(beta_[states_ - 1 - s]);
    sum += posterior[s];
  }
  if (!(sum > 0)) return false;
  for (double& value : posterior) value /= sum;
  return true;
}

template <class Real>
bool SuperposedDecoder<Real>::backward(const FrameProblem& problem, FrameSolution& solution) {
  const TvbCode& code = model()->code;
  const std::size_t N = code.length(), n = code.codeword_bits();
  const std::size_t end = std::min(problem.end_boundary, N);
  double log_beta = 0;
  for (std::size_t i = N; i-- > 0;) {
    if (i + 1 == end && !boundary_posterior(end, solution.end_posterior)) return false;
    const auto [first, last] = bands_[i];
    LatticePass<Real> lattice = pass(problem, i);
    lattice.insert_last = true;
    Real* const row = beta_.data() + (states_ - 1 - last);
    lattice.first_row = row;
    lattice.symbols = reversed_symbols_.data() + reversed_symbols_.size() - (n * (i + 1) + last);
    lattice.table = tables_->backward(code.book_index(i));
    lattice.weights = alpha(i) + last;
    lattice.weight_step = -1;
    lattice.row_sums = row;
    operations_->pass(lattice);
    std::fill(beta_.data(), row, Real{0});
    std::fill(row + lattice.nodes, beta_.data() + stride_, Real{0});
    const double mass = symbol_posteriors(i, solution);
    const Real sum = operations_->normalise(row, lattice.nodes);
    if (!(mass > 0 && sum > 0) || !std::isfinite(sum)) return false;
    log_mass_[i] = log_alpha_[i] + std::log(mass) + tables_->log_scale() + log_beta;
    log_beta += std::log(static_cast<double>(sum)) + tables_->log_scale();
  }
  if (end == 0 && !boundary_posterior(0, solution.end_posterior)) return false;
  return boundary_posterior(0, solution.start_posterior);
}

template <class Real>
bool SuperposedDecoder<Real>::masses_agree() const {
  const auto [least, most] = std::minmax_element(log_mass_.begin(), log_mass_.end());
  return *most - *least < agreement(log_mass_.size());
}

template <class Real>
void SuperposedDecoder<Real>::decode(const FrameProblem& problem, FrameSolution& solution) {
  const auto& code = model()->code;
  solution.status = FrameStatus::kDriftOutside;
  if (!ends_.set(problem, code, model()->limits.frame)) return;
  solution.status = FrameStatus::kMassLost;
  solution.posteriors.resize(code.length() * code.alphabet());
  choose_bands(problem);
  read_symbols(problem);
  if (problem.symbol_priors.empty()) set_priors({});
  std::fill(beta_.begin(), beta_.end(), Real{0});
  for (std::size_t s = 0; s < stride_; ++s) {
    alpha(0)[s] = s < states_ ? static_cast<Real>(ends_.start[s]) : Real{0};
    if (s < states_) beta_[states_ - 1 - s] = static_cast<Real>(ends_.end[s]);
  }
  const FlushDenormals flush;
  if (!forward(problem) || !backward(problem, solution)) return;
  if (std::is_same_v<Real, float> && !masses_agree()) return;
  solution.log_likelihood = log_mass_.front();
  solution.status = FrameStatus::kDecoded;
}

template class SuperposedDecoder<float>;
template class SuperposedDecoder<double>;

}  // namespace firn::codec::sync
