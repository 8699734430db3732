// A receiver's link with a buffer of bounded length, and what TCP makes of it.
//
// Hosts of scripts/swarm have a token bucket before each link (scripts/swarm_lab/hosts.py): what
// its buffer has no room for is lost. TCP sends it again a round trip later, and from then on has
// less on its way to that receiver; what it may not send yet waits unsent, and holds its place
// among the connections with unsent blocks (proto/transport/backlog.h, busy_connections in
// client/core).
//
// Simplified: a burst is lost at its end, as if it alone had met the full buffer; the sender hears
// of a loss when what was before it in the buffer is through, and needs no timer for it;
// acknowledgements are never lost and take no bytes here (LabWire counts them).
#pragma once

#include <algorithm>
#include <cstdint>

#include "tests/sim/lab/run.h"

namespace firn::sim {

inline constexpr std::uint32_t kSegment = 1514;  // on the wire, as tc counts

// All times are virtual and must not go back.
class Downlink {
 public:
  Downlink() = default;
  explicit Downlink(const LabLink& link) : rate_(link.down), queue_us_(us(limit_bytes(link))) {}

  bool limited() const { return rate_ > 0; }

  struct Taken {
    std::uint32_t bytes = 0;  // the others found no room
    TimeUs through = 0;       // from now on until these, and all before them, are through
  };
  // A burst that came at an even rate over the last `came_over`.
  Taken take(std::uint32_t bytes, TimeUs came_over, TimeUs now) {
    const double began = std::max(free_us_, static_cast<double>(now - came_over));
    const double over_us = began + us(bytes) - (static_cast<double>(now) + queue_us_);
    const auto lost = over_us <= 0 ? 0 : static_cast<std::uint32_t>(over_us * rate_ * 1e-6 + 0.5);
    const std::uint32_t taken = bytes - std::min(bytes, lost);
    if (taken > 0) free_us_ = began + us(taken);
    return {taken, backlog(now)};
  }
  // Until all that came is through.
  TimeUs backlog(TimeUs now) const {
    return std::max(TimeUs{0}, static_cast<TimeUs>(free_us_) - now);
  }

 private:
  double us(double bytes) const { return rate_ > 0 ? bytes / rate_ * 1e6 : 0; }
  // The bucket holds 4 ms of the rate, and ten full frames at least; the queue comes on top.
  static double limit_bytes(const LabLink& link) {
    return std::max(10.0 * kSegment, link.down * 4e-3) +
           link.down * static_cast<double>(link.queue) * 1e-6;
  }

  double rate_ = 0;  // bytes a second; 0: no limit
  double queue_us_ = 0;
  double free_us_ = 0;
};

// What a connection may have on its way. Slow start from ten segments (RFC 6928); after a loss 0.7
// of what it was, once for all that was on its way then, and growth by 0.53 segments a round trip,
// which is CUBIC where windows are small (RFC 9438, section 4.3). Growth only where the window was
// what held it up (RFC 7661): a connection that carries a block now and then has as much as it
// needs, and no more.
class CongestionWindow {
 public:
  // Of so many unsent bytes those that may go now: all of them, or full segments.
  std::uint32_t may_send(std::uint32_t unsent) const {
    const double room = window_ - in_flight_;
    if (unsent <= room) return unsent;
    return room < kSegment ? 0 : static_cast<std::uint32_t>(room / kSegment) * kSegment;
  }
  void sent(std::uint32_t bytes) {
    in_flight_ += bytes;
    used_ = std::max(used_, in_flight_);
  }
  void acknowledged(std::uint32_t bytes) {
    begin_round();
    if (recovering_ <= 0) grow(bytes);
    answered(bytes);
  }
  void lost(std::uint32_t bytes) {
    begin_round();
    if (recovering_ <= 0) {
      threshold_ = window_ = std::max(2.0 * kSegment, kDecrease * window_);
      recovering_ = in_flight_;
    }
    answered(bytes);
  }
  bool idle() const { return in_flight_ <= 0; }

 private:
  static constexpr double kDecrease = 0.7;
  static constexpr double kGrowth = 3 * (1 - kDecrease) / (1 + kDecrease);

  // A round lasts until all that is on its way at its begin is answered.
  void begin_round() {
    if (round_ <= 0) round_ = used_ = in_flight_;
  }
  void grow(std::uint32_t bytes) {
    if (window_ < threshold_) {
      if (window_ < 2 * used_) window_ += bytes;
    } else if (used_ + kSegment > window_) {
      window_ += kGrowth * kSegment * bytes / window_;
    }
  }
  void answered(std::uint32_t bytes) {
    in_flight_ -= bytes;
    recovering_ -= bytes;
    round_ -= bytes;
  }

  double window_ = 10.0 * kSegment;
  double threshold_ = 1e18;
  double in_flight_ = 0;
  double used_ = 0;        // most that was on its way in this round
  double round_ = 0;       // of what was on its way at its begin, what is not answered yet
  double recovering_ = 0;  // the same of the last loss
};

}  // namespace firn::sim
