// Internal: what tuning.cc needs of the device and the system.
#pragma once

#include <string>

#include "cuda_kernels/tuning.h"

namespace firn::cuda {

// Lines with the versions of driver and runtime.
std::string runtime_versions();

// Times every kernel on every class. The result is complete, or there is an error.
Status measure_tuning(const Device& device, Tuning& tuning);

}  // namespace firn::cuda
