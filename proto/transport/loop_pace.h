// How often an I/O loop that moves little may wake up.
//
// On slow links what comes and goes comes and goes in small pieces: the head of a block, a State, a
// queue that has drained, an order to send. To be woken for each costs more than all that is done
// with it. So a loop that moves little rests between its turns, and finds several things to do in
// each; one that moves much, or has been quiet for a while, takes its turns at once.
#pragma once

#include <cstdint>

namespace firn::proto::transport {

// One loop. No clock of its own: times are microseconds of any one clock.
class LoopPace {
 public:
  // Turns that a loop may take at once after it has been quiet: handshakes and first requests.
  static constexpr std::uint64_t kTurnsSaved = 32;
  // Faster than that, both ways together, a loop never rests: a turn has enough to do. Two blocks
  // of 16 KiB each way in 8 ms; who is held at it by the rests themselves has a window of four.
  static constexpr std::uint64_t kFastBytesPerSecond = 4 << 20;

  // A turn takes place every `interval_us` at most; 0: no bound.
  explicit LoopPace(std::uint64_t interval_us) : interval_us_(interval_us) {}

  void moved(std::uint64_t bytes) { window_bytes_ += bytes; }

  // After a turn: for how long to rest before the next one.
  std::uint64_t rest_us(std::uint64_t now_us);

 private:
  const std::uint64_t interval_us_;
  std::uint64_t turns_ = kTurnsSaved;
  std::uint64_t interval_ = 0;  // in which the last turn was
  std::uint64_t window_begin_us_ = 0;
  std::uint64_t window_bytes_ = 0;
  bool fast_ = false;  // in the window before this one
};

}  // namespace firn::proto::transport
