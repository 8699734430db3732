// The hash of block checks (codec/check_key.h) beside the machine's limits.
#pragma once

#include <vector>

#include "codec/bench/bench.h"
#include "codec/bench/measure.h"

namespace firn::codec::bench {

// For one shape, in GB/s of payload on one thread: plain reading and every check kernel set, with
// blocks in the second cache (512 KiB of them) and in memory (256 MiB); tags of 8 bytes.
std::vector<Measure> check_measures(const Shape& shape);

}  // namespace firn::codec::bench
