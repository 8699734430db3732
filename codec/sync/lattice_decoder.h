// The MAP decoder as the paper has it (Briffa 2014, II-C and IV): gamma from lattices, one for each
// (i, m', D) or one for each (i, m', m, D), then alpha, beta and L from gamma.
#pragma once

#include <memory>
#include <vector>

#include "codec/sync/frame_decoder.h"
#include "codec/sync/frame_ends.h"
#include "codec/sync/map_decoder.h"
#include "codec/sync/receiver_metric.h"

namespace firn::codec::sync {

// LatticeReal is the type of the lattice and of gamma, SumReal that of alpha, beta and L.
template <class LatticeReal, class SumReal>
class LatticeDecoder final : public FrameDecoder {
 public:
  // form: kIndividual or kBatch.
  LatticeDecoder(std::shared_ptr<const FrameModel> model, Form form, Storage storage);

  std::unique_ptr<FrameDecoder> copy() const override;
  void decode(const FrameProblem& problem, FrameSolution& solution) override;

 private:
  // gamma_i(m', m, D) of one i, row-major [M_tau][M_n][q]: computed, or found where it is kept.
  const LatticeReal* gamma(const FrameProblem& problem, std::size_t i);
  void compute_gamma(const FrameProblem& problem, std::size_t i, LatticeReal* out);
  void start_metrics(const FrameProblem& problem, std::size_t i, int start_drift, LatticeReal* out);
  // Calls with(m', m, gamma_i(m', m, .)) for each transition between states of the frame.
  template <class With>
  void for_transitions(const LatticeReal* gamma, With with) const;

  bool forward(const FrameProblem& problem);
  bool backward(const FrameProblem& problem, FrameSolution& solution);
  bool symbol_posteriors(const LatticeReal* gamma, std::size_t i, FrameSolution& solution);
  bool boundary_posterior(std::size_t i, std::vector<double>& posterior) const;

  SumReal* alpha(std::size_t i) { return alpha_.data() + i * states_; }
  SumReal* beta(std::size_t i) { return beta_.data() + i * states_; }

  Form form_;
  Storage storage_;
  std::size_t q_, states_, changes_;  // q, M_tau, M_n
  BatchMetric<LatticeReal> batch_;
  FrameEnds ends_;
  std::vector<std::uint8_t> window_;  // the received bits that one start can reach
  std::vector<LatticeReal> gamma_;
  std::vector<SumReal> alpha_, beta_;  // [N + 1][M_tau], each boundary's sum 1
  std::vector<SumReal> symbol_;        // L_i, unscaled
  double log_scale_ = 0;               // ln of the product of alpha's sums
};

}  // namespace firn::codec::sync
