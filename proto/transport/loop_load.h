// What each I/O loop has to do, so that a new connection comes to live where there is least. A
// connection stays where it began; what it will carry is not known then, and is taken to be the
// mean of those that there are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace firn::proto::transport {

// No clock of its own: times are microseconds of any one clock.
class LoopLoad {
 public:
  static constexpr std::uint64_t kWindowUs = 250'000;

  // A connection comes to live there, or has ended. Any thread.
  void opened() { connections_.fetch_add(1, std::memory_order_relaxed); }
  void closed() { connections_.fetch_sub(1, std::memory_order_relaxed); }

  // The loop's thread: whether it is time to tell how long it has run.
  bool due(std::uint64_t now_us) const { return now_us - told_us_ >= kWindowUs; }
  // The loop's thread: it has run for `cpu_us` in all.
  void ran(std::uint64_t cpu_us, std::uint64_t now_us) {
    if (told_us_ > 0 && now_us > told_us_) {
      const double share =
          static_cast<double>(cpu_us - cpu_us_) / static_cast<double>(now_us - told_us_);
      // After a window half of it is what was before, and next to nothing after a long sleep.
      const auto time = static_cast<double>(now_us - told_us_);
      const double kept = kWindowUs / (kWindowUs + time);
      busy_.store(kept * busy_.load(std::memory_order_relaxed) + (1 - kept) * share,
                  std::memory_order_relaxed);
      busy_with_.store(connections(), std::memory_order_relaxed);
    }
    told_us_ = now_us;
    cpu_us_ = cpu_us;
  }

  // Share of a core that the thread takes, of late; nothing where no connection lives. Any thread.
  double busy() const { return connections() == 0 ? 0 : busy_.load(std::memory_order_relaxed); }
  // How many connections lived there when that was told.
  std::uint32_t busy_with() const { return busy_with_.load(std::memory_order_relaxed); }
  std::uint32_t connections() const { return connections_.load(std::memory_order_relaxed); }

 private:
  std::uint64_t told_us_ = 0, cpu_us_ = 0;
  std::atomic<double> busy_{0};
  std::atomic<std::uint32_t> connections_{0}, busy_with_{0};
};

// The loop that has least to do, where each of its connections may come to take as much as one
// takes in the mean. Among equals the first. Any thread.
inline std::size_t least_loaded(const std::deque<LoopLoad>& loads) {
  constexpr double kConnection = 0.01;  // of a core, that a connection takes at least to come
  double busy = 0, connections = 0;
  for (const LoopLoad& load : loads) {
    busy += load.busy();
    connections += load.busy_with();
  }
  const double mean = std::max(busy / std::max(connections, 1.0), kConnection);
  const auto to_come = [mean](const LoopLoad& load) {
    return load.busy() + mean * load.connections();
  };
  const auto least = std::ranges::min_element(loads, {}, to_come);
  return static_cast<std::size_t>(least - loads.begin());
}

}  // namespace firn::proto::transport
