#include "client/content/file_time.h"

#include <limits>

namespace firn::content {
namespace {

constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();

}  // namespace

bool holds_time(const timespec& time) {
  const timespec first = to_timespec(kMin), last = to_timespec(kMax);
  const auto not_after = [](const timespec& a, const timespec& b) {
    return a.tv_sec < b.tv_sec || (a.tv_sec == b.tv_sec && a.tv_nsec <= b.tv_nsec);
  };
  return not_after(first, time) && not_after(time, last);
}

std::int64_t nanoseconds_of(const timespec& time) {
  if (!holds_time(time)) return time.tv_sec < 0 ? kMin : kMax;
  // A time before 1970 counts up from its second: that of kMin would not be held as nanoseconds.
  const bool before = time.tv_sec < 0;
  const std::int64_t seconds = before ? time.tv_sec + 1 : time.tv_sec;
  const std::int64_t rest = before ? time.tv_nsec - kSecondNs : time.tv_nsec;
  return seconds * kSecondNs + rest;
}

timespec to_timespec(std::int64_t nanoseconds) {
  std::int64_t seconds = nanoseconds / kSecondNs, rest = nanoseconds % kSecondNs;
  if (rest < 0) {  // before 1970
    rest += kSecondNs;
    --seconds;
  }
  timespec time = {};
  time.tv_sec = static_cast<decltype(time.tv_sec)>(seconds);
  time.tv_nsec = static_cast<decltype(time.tv_nsec)>(rest);
  return time;
}

}  // namespace firn::content
