// Which states the decoder keeps. The channel's drift is unbounded, so sums are taken over a finite
// state space, chosen so that a frame needs a state outside with at most the probability `excluded`
// (P_r; 1e-10 in Briffa 2014, who leaves the derivation to his reference 11).
//
// A path of the channel stands, after k received bits and before the events of time t, at node
// (t, k), whose drift is k - t; insertions move it up, a transmission keeps it, a deletion moves it
// down. Drifts count from the frame's start; within the codeword at index i, from n i on.
//
//   codeword  m_n: a node may lie from m' + low to m' + high, m' being the drift at the codeword's
//             start (the lattice's corridor)
//   frame     m_tau: drifts at codeword boundaries, and at all nodes in the superposed form
//
// Pure functions; any thread.
#pragma once

#include <cstddef>

#include "codec/sync/channel.h"
#include "codec/sync/drift.h"

namespace firn::codec::sync {

struct StateLimits {
  DriftRange codeword;  // [m_n-, m_n+], M_n = codeword.size()
  DriftRange frame;     // [m_tau-, m_tau+], M_tau = frame.size(); contains `codeword`

  bool operator==(const StateLimits&) const = default;
  // low <= 0 <= high in both, and `frame` contains `codeword`.
  bool valid() const;
};

// Each range is that of DriftLaw::range: for n bits and for n N. It bounds the end of the path
// alone: `excluded` does not count paths that leave the state space on the way and come back.
StateLimits endpoint_limits(std::size_t n, std::size_t length, const Channel& channel,
                            double excluded);

// Limits that hold all the way: both probabilities below are at most `excluded`. N = `length`.
StateLimits rigorous_limits(std::size_t n, std::size_t length, const Channel& channel,
                            double excluded);

// The exact probability that a path over N codewords of n bits leaves the state space of the
// lattice forms: a node outside of its codeword's corridor, or a boundary outside of `frame`. To
// about 1e-13.
double corridor_exclusion(std::size_t n, std::size_t length, const Channel& channel,
                          const StateLimits& limits);

// The exact probability that a node of a path over `bits` bits lies outside of `range`: what the
// superposed form leaves out.
double band_exclusion(std::size_t bits, const Channel& channel, const DriftRange& range);

}  // namespace firn::codec::sync
