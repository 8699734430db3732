// Quantities as people write and read them: sizes, rates, durations, seed policies.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "client/core/base/types.h"
#include "proto/base/result.h"

namespace firn::app {

// Numbers with units, from the largest to the smallest of d, h, m, s, ms: "30m", "1h30m", "500ms",
// "1.5h". A number alone counts seconds. Rounded down to whole microseconds. Errors: kBadInput.
Result<core::TimeUs> parse_duration(std::string_view text);

// Bytes: digits, or a number with K, M, G, T, P or E (powers of 1024, in either case; an ending B
// or iB means the same), which may have a fraction and is rounded down to whole bytes: "1.5M".
// Errors: kBadInput.
Result<std::uint64_t> parse_size(std::string_view text);

// Bytes per second: as parse_size(), or a number with kbit, Mbit, Gbit or Tbit (powers of 1000, in
// either case), as lines are sold: "10Mbit" is 1,250,000. An ending "/s" means nothing more.
// Errors: kBadInput.
Result<std::uint64_t> parse_rate(std::string_view text);

// none | forever | ratio:NUMBER ("ratio:1.5") | DURATION with a unit ("30m") | receivers:N |
// idle:DURATION. Errors: kBadInput, of this `option`.
Result<core::SeedPolicy> parse_seed_policy(std::string_view text,
                                           std::string_view option = "--seed");

// "999 B", "1.5 KiB", "64.0 MiB".
std::string format_bytes(std::uint64_t bytes);
// "12.3 MiB/s"
std::string format_rate(double bytes_per_second);
// "7s", "3m05s", "2h07m", "4d03h"; "-" if it is not finite or above a year.
std::string format_seconds(double seconds);
// As it was given: "200ms", "1.5s"; in whole seconds from a minute on.
std::string format_duration(core::TimeUs duration);

}  // namespace firn::app
