// The BSID channel: it inserts, deletes and flips bits at random and without bound (Bahl and
// Jelinek 1975; Briffa 2014, II-B). A medium whose bits get lost or gained behaves like it, and
// the decoder of this folder is told its parameters.
//
// At time t one bit x_t is at the input, and one of three events happens: insertion, a uniform
// random bit is received and the time stays t; deletion, nothing is received and the time goes on;
// transmission, x_t is received, flipped with probability `substitution`, and the time goes on.
// After the last bit's deletion or transmission nothing is inserted.
//
// Drift S_t is the number of received bits less the number of sent ones before the events of time
// t. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "codec/random.h"

namespace firn::codec::sync {

// Bits of a medium, one a byte, each 0 or 1, in the order in which they are written and read.
using Bits = std::vector<std::uint8_t>;

struct Channel {
  double insertion = 0;     // P_i
  double deletion = 0;      // P_d
  double substitution = 0;  // P_s, of a transmitted bit

  double transmission() const { return 1 - insertion - deletion; }  // P_t
  // Q(y|x): a bit is transmitted and received as it is, or as the other one (Briffa 2014, eq. 8).
  double match() const { return transmission() * (1 - substitution); }
  double mismatch() const { return transmission() * substitution; }

  // All are probabilities, and some bits are transmitted: P_i + P_d < 1. Numbers that are none
  // fail.
  bool valid() const;
};

// What is received when `sent` passes the channel. The same draws of `random` give the same bits,
// on every machine. The channel is valid.
Bits transmit(std::span<const std::uint8_t> sent, const Channel& channel,
              CoefficientStream& random);

// As above, and says the drift at every time: drifts[t] = S_t for t = 0..sent.size(), where the
// last is the drift at the end; peaks[t] is the drift after the insertions of time t, before its
// deletion or transmission (sent.size() of them). Both are written anew. For tests of state limits.
Bits transmit(std::span<const std::uint8_t> sent, const Channel& channel, CoefficientStream& random,
              std::vector<int>& drifts, std::vector<int>& peaks);

// Uniform in [0, 1) with 53 bits.
double uniform(CoefficientStream& random);

}  // namespace firn::codec::sync
