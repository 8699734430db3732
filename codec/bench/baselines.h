// How the papers' programs multiplied on a CPU, as kernel sets, so that encoder and decoder can be
// measured with them: a logarithm and exponent table a byte at a time, and the loop over a
// constant's bits, 16 bytes at a time (Shojania and Li, "Parallelized Progressive Network Coding
// With Hardware Acceleration", 2007: SSE2). One row after another, as those programs worked.
#pragma once

#include "codec/kernels/table.h"

namespace firn::codec::bench {

extern const Kernels kLogExpKernels;
extern const Kernels kLoopKernels;

}  // namespace firn::codec::bench
