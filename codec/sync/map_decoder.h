// The MAP decoder: probabilities of a frame's symbols, given the bits that were received, by the
// forward-backward algorithm over the drift at codeword boundaries (Briffa 2014, II-C):
//
//   gamma_i(m', m, D) = Pr{D_i = D} R(received[n i + m' .. n(i+1) + m) | C_i(D))
//   alpha_{i+1}(m) = sum_{m', D} alpha_i(m') gamma_i(m', m, D)
//   beta_i(m')     = sum_{m, D} gamma_i(m', m, D) beta_{i+1}(m)
//   L_i(D)        ~ sum_{m', m} alpha_i(m') gamma_i(m', m, D) beta_{i+1}(m)
//
// each alpha, beta and L scaled to a sum of 1. R is the receiver metric, a lattice with a row for
// each of the codeword's bits (eq. 7 to 10; codec/sync/receiver_metric.h).
//
//   form          lattices                                   nodes of a frame
//   kIndividual   one for each i, m', m, D: the reference    N q M_tau M_n n M_n
//   kBatch        one for each i, m', D (the paper's)        N q M_tau n M_n
//   kSuperposed   one for each i, D and direction, as the    2 N q n M_tau
//                 lattice is linear in its first row
//
// kSuperposed runs on the kernels of codec/kernels/lattice_table.h and is the one to use. It keeps
// all paths inside of StateLimits::frame, the other forms those inside of each codeword's corridor:
// with rigorous_limits the posteriors differ by no more than what is excluded.
//
// A decoder is of one thread at a time; a copy shares what does not change, so give each thread
// one.
#pragma once

#include <memory>

#include "codec/kernels/lattice_table.h"
#include "codec/sync/channel.h"
#include "codec/sync/frame.h"
#include "codec/sync/limits.h"
#include "codec/sync/tvb_code.h"

namespace firn::codec::sync {

enum class Form { kIndividual, kBatch, kSuperposed };

// The real numbers of the lattice, and of alpha, beta and L.
enum class Precision {
  kSingle,  // float for both
  kMixed,   // float lattice, double sums: the paper's choice. kSuperposed: as kSingle
  kDouble,  // double for both
};

// Where gamma is kept (Briffa 2014, IV-A and IV-B); kSuperposed has none.
enum class Storage {
  kGlobal,  // gamma of all i at once: N M_tau M_n q numbers
  kLocal,   // of one i, computed a second time for the backward pass: M_tau M_n q numbers
};

struct DecoderOptions {
  Form form = Form::kSuperposed;
  Precision precision = Precision::kSingle;
  Storage storage = Storage::kGlobal;  // of the other forms
  // kSuperposed, frames that start and end with the record: keep only the drifts that can lie
  // between the two ends, excluding paths of at most this probability (codec/sync/bridge_band.h);
  // 0: all.
  double bridge_exclusion = 0;
  // kSuperposed: nullptr is the best set that the CPU has.
  const LatticeKernels* kernels = nullptr;
};

class FrameDecoder;

class MapDecoder {
 public:
  // The channel and the limits are valid; both are what the decoder assumes, and need to be right
  // only roughly (docs/medium.md).
  MapDecoder(TvbCode code, const Channel& channel, const StateLimits& limits,
             const DecoderOptions& options = {});
  MapDecoder(const MapDecoder& other);
  MapDecoder(MapDecoder&&) noexcept;
  MapDecoder& operator=(MapDecoder other) noexcept;
  ~MapDecoder();

  const TvbCode& code() const;
  const Channel& channel() const;
  const StateLimits& limits() const;

  // The problem's spans are read only during the call. A frame that lost its mass in single
  // precision is decoded again in double (FrameSolution::redone).
  void decode(const FrameProblem& problem, FrameSolution& solution);

 private:
  std::unique_ptr<FrameDecoder> decoder_;
  std::unique_ptr<FrameDecoder> in_double_;  // made when a frame first needs it
  DecoderOptions options_;
};

}  // namespace firn::codec::sync
