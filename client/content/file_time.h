// Times of files as a manifest holds them: nanoseconds since 1970 in 64 bits, which are the years
// 1677 to 2262.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace firn::content {

inline constexpr std::int64_t kSecondNs = 1'000'000'000;

// Whether `time` is within those years.
bool holds_time(const timespec& time);

// `time`, or the first or last moment of those years if it is outside of them.
std::int64_t nanoseconds_of(const timespec& time);

// The moment that a manifest has as `nanoseconds`.
timespec to_timespec(std::int64_t nanoseconds);

}  // namespace firn::content
