#include "proto/transport/loop_pace.h"

#include <algorithm>

namespace firn::proto::transport {
namespace {

constexpr std::uint64_t kWindowUs = 256'000;
constexpr std::uint64_t kFastWindowBytes = LoopPace::kFastBytesPerSecond * kWindowUs / 1'000'000;

}  // namespace

bool LoopPace::busy() const {
  return std::max(window_received_, window_sent_) >= kFastWindowBytes ||
         window_blocks_ * interval_us_ * 4 >= kWindowUs * 3;
}

std::uint64_t LoopPace::rest_us(std::uint64_t now_us) {
  rests_ = false;
  if (now_us - window_begin_us_ >= kWindowUs) {
    const bool lately = now_us - window_begin_us_ < 2 * kWindowUs;
    fast_ = lately && busy();
    window_begin_us_ = now_us;
    window_received_ = window_sent_ = window_blocks_ = 0;
  }
  if (interval_us_ == 0 || fast_ || busy()) return 0;

  // Rests end where intervals do, so that what several connections wait for comes together.
  const std::uint64_t interval = now_us / interval_us_;
  if (interval > interval_) {
    turns_ = std::min(kTurnsSaved, turns_ + (interval - interval_));
    interval_ = interval;
  }
  if (turns_ > 0) {
    --turns_;
    return 0;
  }
  rests_ = true;
  ++interval_;  // the turn of the next interval is the one after the rest
  return interval_ * interval_us_ - now_us;
}

}  // namespace firn::proto::transport
