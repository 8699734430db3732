// What came to one receiver in each second of a measurement, and how many seconds brought less than
// its rate. Seconds are counted from the time at which the receiver granted its first credit, as
// each then holds the same number of grants.
//
// A second is short if fewer blocks came in it than 95 % of the rate come to, in whole blocks: a
// block more or less a second is where the second begins, not the sender's doing.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace firn::load {

using TimeUs = std::int64_t;
inline constexpr TimeUs kSecond = 1'000'000;

// The measurement: the same for all receivers.
struct Measurement {
  TimeUs from = 0;
  TimeUs to = 0;
};

class Seconds {
 public:
  // `rate` bytes a second, in blocks of `block_bytes`.
  Seconds(const Measurement& measurement, double rate, std::uint32_t block_bytes)
      : measurement_(measurement), least_(static_cast<std::uint32_t>(0.95 * rate / block_bytes)) {}

  // The first credit is granted now.
  void begin(TimeUs now) { began_ = now; }
  void block(TimeUs now) {
    if (now < measurement_.from || now >= measurement_.to) return;
    ++blocks_;
    const std::optional<std::size_t> second = second_of(now);
    if (!second) return;
    if (in_second_.size() <= *second) in_second_.resize(*second + 1, 0);
    ++in_second_[*second];
  }

  // Within the measurement; of a receiver that never began none brought anything.
  std::uint64_t blocks() const { return blocks_; }
  std::uint32_t whole_seconds() const {
    const TimeUs span = measurement_.to - first_second();
    return span > 0 ? static_cast<std::uint32_t>(span / kSecond) : 0;
  }
  std::uint32_t short_seconds() const {
    std::uint32_t count = 0;
    for (std::size_t i = 0; i < whole_seconds(); ++i) count += is_short(i) ? 1 : 0;
    return count;
  }
  // Short seconds one after the other.
  std::uint32_t longest_shortage() const {
    std::uint32_t run = 0, longest = 0;
    for (std::size_t i = 0; i < whole_seconds(); ++i) {
      run = is_short(i) ? run + 1 : 0;
      longest = std::max(longest, run);
    }
    return longest;
  }

 private:
  // Where the first whole second of the measurement begins.
  TimeUs first_second() const {
    if (!began_ || *began_ >= measurement_.from) return measurement_.from;
    const TimeUs before = measurement_.from - *began_;
    return *began_ + (before + kSecond - 1) / kSecond * kSecond;
  }
  std::optional<std::size_t> second_of(TimeUs now) const {
    const TimeUs since = now - first_second();
    if (since < 0) return std::nullopt;
    return static_cast<std::size_t>(since / kSecond);
  }
  bool is_short(std::size_t second) const {
    return (second < in_second_.size() ? in_second_[second] : 0) < least_;
  }

  Measurement measurement_;
  std::uint32_t least_;
  std::optional<TimeUs> began_;
  std::uint64_t blocks_ = 0;
  std::vector<std::uint32_t> in_second_;
};

}  // namespace firn::load
