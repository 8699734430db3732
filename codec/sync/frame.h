// One decoding problem of the MAP decoder, and its solution. CPU and GPU decoders take and give
// these; arrays are the caller's and plain memory of any alignment.
//
// The frame has N codewords of n bits over q symbols, tau = n N. A boundary i = 0..N stands before
// the codeword at index i. State s = 0..M-1 of a boundary is the drift m = s + m_tau-, where
// M = m_tau+ - m_tau- + 1 (StateLimits::frame).
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace firn::codec::sync {

struct FrameProblem {
  // The record: received bits, one a byte, 0 or 1.
  std::span<const std::uint8_t> received;
  // Where in the record the frame starts if its drift is 0 there: state m of boundary i stands
  // before the bit received[origin + n i + m]. 0 for a record of one frame alone; any value in a
  // stream.
  std::ptrdiff_t origin = 0;
  // Pr{D_i = D}, row-major [N][q], each row's sum 1; empty: all symbols are equally likely. An
  // outer decoder's extrinsic information goes here (Briffa 2014, eq. 6).
  std::span<const double> symbol_priors;
  // alpha_0 and beta_N over the M states, not negative, of any sum above 0. Empty: the frame starts
  // at drift 0; it ends where the record ends, at drift rho - tau with rho = received.size() -
  // origin.
  std::span<const double> start_prior, end_prior;
  // Which boundary's posterior is given as FrameSolution::end_posterior: 0..N. A stream decodes
  // some codewords of the next frame with this one, and asks for the boundary before them.
  static constexpr std::size_t kLastBoundary = ~std::size_t{0};
  std::size_t end_boundary = kLastBoundary;
};

enum class FrameStatus {
  kDecoded,
  kDriftOutside,  // the record's length, or the priors, fit no state inside of the limits: an
                  // erasure
  kMassLost,      // no path inside of the limits explains the record (wrong channel, wrong code)
};

// Vectors are sized by the decoder, and their memory is used again. Unless the status is kDecoded
// their contents mean nothing.
struct FrameSolution {
  FrameStatus status = FrameStatus::kMassLost;
  std::vector<double> posteriors;  // L_i(D), row-major [N][q], each row's sum is 1
  // Phi: the posterior of the drift at boundary 0 and at FrameProblem::end_boundary, M states each.
  std::vector<double> start_posterior, end_posterior;
  // ln of the probability that the channel makes this record of the code's frames, on paths inside
  // of the limits, with start and end priors scaled to a sum of 1. Tells which of several channels
  // or codes fits a record.
  double log_likelihood = 0;
  bool redone = false;  // in double precision, as single precision lost mass
};

}  // namespace firn::codec::sync
