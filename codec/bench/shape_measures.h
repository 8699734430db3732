// All that is measured at one shape.
#pragma once

#include <vector>

#include "codec/bench/bench.h"
#include "codec/bench/measure.h"

namespace firn::codec::bench {

// The best kernel set, ISA-L, the papers' ways; encode, recode, decode; one thread and several.
std::vector<Measure> shape_measures(const Shape& shape, const Options& options);

// Encode and decode with every kernel set.
std::vector<Measure> kernel_measures(const Shape& shape);

// Encode n rows with 0 to 3 levels of Strassen's algorithm.
std::vector<Measure> level_measures(const Shape& shape);

}  // namespace firn::codec::bench
