// Internal: block and grid sizes as the paper finds them at run time (V-A, V-B).
#pragma once

#include "cuda_kernels/papers/briffa.h"

namespace firn::cuda::papers {

// Bounds are those of the three kernels on a device of this many multiprocessors. kUnsupported
// where one thread's shared memory exceeds a block's.
Status plan_grids(const BriffaFrame& frame, int multiprocessors, const BriffaBounds& gamma,
                  const BriffaBounds& sums, const BriffaBounds& symbols, BriffaPlan& plan);

}  // namespace firn::cuda::papers
