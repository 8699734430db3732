// The MAP decoder on superposed lattices. A lattice is linear in its first row, so one that starts
// from all of alpha_i at once gives what the lattices of all m' give, weighted by alpha_i:
//
//   alpha_{i+1} ~ sum_D Pr{D} Fwd_{i,D}(alpha_i)        B_{i,D} = Bwd_{i,D}(beta_{i+1})
//   beta_i ~ sum_D Pr{D} B_{i,D}                        L_i(D) ~ Pr{D} <alpha_i, B_{i,D}>
//
// That is a lattice of n M_tau nodes for each i, D and direction. Paths are limited by the frame's
// drifts alone, or by a band for each codeword (codec/sync/bridge_band.h).
#pragma once

#include <memory>
#include <unordered_map>
#include <vector>

#include "codec/kernels.h"
#include "codec/sync/bridge_band.h"
#include "codec/sync/frame_decoder.h"
#include "codec/sync/frame_ends.h"
#include "codec/sync/superposed_tables.h"

namespace firn::codec::sync {

template <class Real>
class SuperposedDecoder final : public FrameDecoder {
 public:
  // bridge: nullptr, or the bands of frames whose both ends are known.
  SuperposedDecoder(std::shared_ptr<const FrameModel> model, const LatticeKernels& kernels,
                    std::shared_ptr<const BridgeBand> bridge);

  std::unique_ptr<FrameDecoder> copy() const override;
  void decode(const FrameProblem& problem, FrameSolution& solution) override;

 private:
  SuperposedDecoder(const SuperposedDecoder&) = default;

  void choose_bands(const FrameProblem& problem);
  void read_symbols(const FrameProblem& problem);
  void set_priors(std::span<const double> priors);  // q of them, or none: all alike
  // The lattice of index i, but for what depends on its direction. Sets the index's priors.
  LatticePass<Real> pass(const FrameProblem& problem, std::size_t i);
  bool forward(const FrameProblem& problem);
  bool backward(const FrameProblem& problem, FrameSolution& solution);
  // L_i from joint_, whose sum is given back.
  double symbol_posteriors(std::size_t i, FrameSolution& solution) const;
  bool boundary_posterior(std::size_t i, std::vector<double>& posterior) const;
  bool masses_agree() const;

  Real* alpha(std::size_t i) { return alpha_.data() + i * stride_; }
  const Real* alpha(std::size_t i) const { return alpha_.data() + i * stride_; }

  const LatticeOperations<Real>* operations_;
  std::shared_ptr<const SuperposedTables<Real>> tables_;
  std::shared_ptr<const BridgeBand> bridge_;
  std::size_t states_, stride_;  // M_tau, and the numbers from one boundary of alpha to the next
  FrameEnds ends_;
  // The states that each codeword's lattice has, by index: of frames with unknown ends, and by the
  // drift at the end of those with known ones.
  std::vector<BridgeBand::States> all_states_;
  std::unordered_map<int, std::vector<BridgeBand::States>> bridges_;
  const BridgeBand::States* bands_ = nullptr;  // of the frame in work
  AlignedArray<std::int32_t> symbols_, reversed_symbols_;
  AlignedArray<Real> alpha_;  // [N + 1][stride]
  AlignedArray<Real> beta_;   // of the boundary in work, the highest drift first
  AlignedArray<Real> priors_, joint_, work_;
  std::vector<double> log_alpha_;  // ln of the product of alpha's sums up to boundary i
  std::vector<double> log_mass_;   // ln of the frame's likelihood, as index i sees it
};

}  // namespace firn::codec::sync
