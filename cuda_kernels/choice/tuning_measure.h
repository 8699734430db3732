// Internal: the measurements of the self-tune (tuning.h).
#pragma once

#include <string>

#include "cuda_kernels/choice/tuning.h"

namespace firn::cuda {

// Lines with the versions of driver and runtime.
std::string runtime_versions();

// Times every kernel on every class. The result is complete, or there is an error.
Status measure_tuning(const Device& device, Tuning& tuning);

}  // namespace firn::cuda
