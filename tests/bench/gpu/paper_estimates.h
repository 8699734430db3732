// Nuclei's Table I redone: what a CPU and a GPU should multiply, from clock, cores, width and
// cycles, next to what was measured.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>

#include "cuda_kernels/runtime/device.h"

namespace firn::cuda::papers {

// Measured: word products a second of the loop by hand with the factor 0xff and the chip full, and
// byte products a second of the CPU's codec on all its threads. Prints the table too.
nlohmann::ordered_json estimate_computing_power(const Device& device, std::size_t cpu_threads,
                                                double word_products_per_s,
                                                double cpu_byte_products_per_s);

}  // namespace firn::cuda::papers
