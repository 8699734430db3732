// Quantities as people write and read them: sizes, rates, durations, seed policies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/core/types.h"
#include "proto/result.h"

namespace firn::app {

// "90", "90s", "10m", "2h", "1d". kBadInput otherwise.
Result<core::TimeUs> parse_duration(std::string_view text);

// none | forever | RATIO ("1.5") | DURATION (with a unit: "30m"). kBadInput otherwise.
Result<core::SeedPolicy> parse_seed_policy(std::string_view text);

// "999 B", "1.5 KiB", "64.0 MiB".
std::string format_bytes(std::uint64_t bytes);
// "12.3 MiB/s"
std::string format_rate(double bytes_per_second);
// "7s", "3m05s", "2h07m", "4d03h"; "-" if it is not finite or above a year.
std::string format_seconds(double seconds);

}  // namespace firn::app
