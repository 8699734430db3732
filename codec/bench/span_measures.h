// What it costs to bring arriving coding vectors to reduced form (codec/span_basis.h).
#pragma once

#include <vector>

#include "codec/bench/bench.h"
#include "codec/bench/measure.h"

namespace firn::codec::bench {

// Microseconds for a vector, over all n of a generation: dense ones, and unit vectors that come in
// no order. k is not used.
std::vector<Measure> span_measures(const Shape& shape);

}  // namespace firn::codec::bench
