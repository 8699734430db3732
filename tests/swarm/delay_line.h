// One direction of a slow link: frames that come in leave in the same order a fixed time later, but
// for those that get lost by chance and those that the line has no room for. No clock and no I/O;
// times are microseconds that do not go back.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <span>
#include <utility>
#include <vector>

namespace firn::swarm {

inline constexpr std::uint64_t kNever = UINT64_MAX;

class DelayLine {
 public:
  struct Terms {
    std::uint64_t delay_us = 0;
    double loss = 0;            // part of the frames
    std::size_t bytes_max = 0;  // under way at a time
    std::uint64_t seed = 0;     // of the frames that get lost
  };
  struct Counts {
    std::uint64_t passed = 0, lost = 0, overflowed = 0;
  };

  explicit DelayLine(const Terms& terms) : terms_(terms), random_(terms.seed) {}

  void put(std::span<const std::uint8_t> frame, std::uint64_t now_us) {
    if (std::generate_canonical<double, 53>(random_) < terms_.loss) {
      ++counts_.lost;
    } else if (frame.size() > terms_.bytes_max - bytes_) {
      ++counts_.overflowed;
    } else {
      bytes_ += frame.size();
      frames_.push_back({now_us + terms_.delay_us, {frame.begin(), frame.end()}});
    }
  }

  // When the first frame leaves; kNever: none is under way.
  std::uint64_t next_due() const { return frames_.empty() ? kNever : frames_.front().due_us; }
  // The first frame, which is due.
  std::vector<std::uint8_t> take() {
    std::vector<std::uint8_t> frame = std::move(frames_.front().bytes);
    frames_.pop_front();
    bytes_ -= frame.size();
    ++counts_.passed;
    return frame;
  }
  const Counts& counts() const { return counts_; }

 private:
  struct Frame {
    std::uint64_t due_us = 0;
    std::vector<std::uint8_t> bytes;
  };
  Terms terms_;
  Counts counts_;
  std::mt19937_64 random_;
  std::deque<Frame> frames_;
  std::size_t bytes_ = 0;  // of frames_
};

}  // namespace firn::swarm
