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
  // Faster than that, either way, a loop never rests: a block of 16 KiB then takes little more than
  // an interval of 8 ms, and an uplink would be idle before its loop hears that it is free.
  static constexpr std::uint64_t kFastBytesPerSecond = 3 << 19;

  // Small blocks: with a turn for each, a loop that rests has as many turns as blocks, however fast
  // the link is. So where in three of four turns there could be there is more than a State to send
  // it does not rest either.
  static constexpr std::uint64_t kBlockLeast = 512;  // bytes of a record

  // A turn takes place every `interval_us` at most; 0: no bound.
  explicit LoopPace(std::uint64_t interval_us) : interval_us_(interval_us) {}

  void received(std::uint64_t bytes) { window_received_ += bytes; }
  void sent(std::uint64_t bytes) {
    window_sent_ += bytes;
    if (bytes >= kBlockLeast) ++window_blocks_;
  }

  // So it was in the last quarter of a second or two.
  bool fast() const { return fast_; }

  // After a turn: for how long to rest before the next one.
  std::uint64_t rest_us(std::uint64_t now_us);
  // There was a rest before the present turn, and most likely there is one after it.
  bool rests() const { return rests_; }

 private:
  bool busy() const;  // as the present window has it so far

  const std::uint64_t interval_us_;
  std::uint64_t turns_ = kTurnsSaved;
  std::uint64_t interval_ = 0;  // in which the last turn was
  std::uint64_t window_begin_us_ = 0;
  std::uint64_t window_received_ = 0, window_sent_ = 0, window_blocks_ = 0;
  bool fast_ = false;  // in the window before this one
  bool rests_ = false;
};

}  // namespace firn::proto::transport
