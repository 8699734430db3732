// A Report as a table for people and as JSON for scripts/figures/plot_codec.py.
#pragma once

#include <string>

#include "codec/bench/bench.h"

namespace firn::codec::bench {

// `machine` is written as it is: what the caller knows of CPU and conditions.
std::string to_table(const Report& report, const std::string& machine);
std::string to_json(const Report& report, const std::string& machine);

}  // namespace firn::codec::bench
