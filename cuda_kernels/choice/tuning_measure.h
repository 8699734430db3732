// Internal: the measurements of the self-tune (tuner.h).
#pragma once

#include "cuda_kernels/choice/tuning.h"
#include "cuda_kernels/runtime/status.h"

namespace firn::cuda {

// Times every kernel on every class. The result is complete, or there is an error.
Status measure_tuning(const Device& device, Tuning& tuning);

}  // namespace firn::cuda
