// How far an I/O loop is behind. A loop serves all that is ready in one turn, so what comes waits
// for the turn that it falls into: the lag is the mean, over time, of how long that turn keeps the
// loop busy. Of two windows in a row the smaller mean counts: one long turn among many short ones
// (a flush to disk), however long, does not move it; a loop with more to do than it can has long
// turns alone.
#pragma once

#include <uv.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <deque>

namespace firn::proto::transport {

// No clock of its own: times are microseconds of any one clock.
class LoopLag {
 public:
  static constexpr std::uint64_t kWindowUs = 250'000;  // of which the mean is taken

  // The loop's thread, after each turn: it took `busy_us`, without waiting for anything.
  void turn(std::uint64_t busy_us, std::uint64_t now_us) {
    if (begin_us_ == 0) begin_us_ = now_us - busy_us;
    weighted_ += static_cast<double>(busy_us) * static_cast<double>(busy_us);
    const std::uint64_t passed = now_us - begin_us_;
    if (passed < kWindowUs) return;
    const auto mean_us = static_cast<std::uint64_t>(weighted_ / static_cast<double>(passed));
    lag_us_.store(std::min(mean_us, last_mean_us_), std::memory_order_relaxed);
    last_mean_us_ = mean_us;
    begin_us_ = now_us;
    weighted_ = 0;
  }

  // Of the last two windows that are over. Any thread.
  std::uint64_t us() const { return lag_us_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t begin_us_ = 0;
  double weighted_ = 0;
  std::uint64_t last_mean_us_ = 0;
  std::atomic<std::uint64_t> lag_us_{0};
};

// Whether at least half of the loops are behind by `bound_us`: fewer say nothing of what a new
// connection, which may live on any of them, would meet. Any thread.
inline bool half_are_behind(const std::deque<LoopLag>& lags, std::uint64_t bound_us) {
  const auto behind =
      std::ranges::count_if(lags, [bound_us](const auto& lag) { return lag.us() >= bound_us; });
  return behind > 0 && 2 * static_cast<std::size_t>(behind) >= lags.size();
}

// Tells a loop's lag how long each turn takes: the time between two turns' ends without that in
// which libuv waited for sockets. The loop is configured with UV_METRICS_IDLE_TIME. Its thread.
class LoopMeter {
 public:
  void turn_over(uv_loop_t* loop, LoopLag& lag) {
    const std::uint64_t now_ns = uv_hrtime(), idle_ns = uv_metrics_idle_time(loop);
    if (over_ns_ > 0) lag.turn((now_ns - over_ns_ - (idle_ns - idle_ns_)) / 1000, now_ns / 1000);
    over_ns_ = now_ns;
    idle_ns_ = idle_ns;
  }

 private:
  std::uint64_t over_ns_ = 0, idle_ns_ = 0;  // as of the last turn's end
};

}  // namespace firn::proto::transport
