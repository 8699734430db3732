// What a run of the tracker's load counted: announces, handshakes, errors, and how long replies
// took, within the measurement alone.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <string>

namespace firn::tracker_load {

using TimeUs = std::int64_t;
inline constexpr TimeUs kSecond = 1'000'000;

// Times in classes whose width is at most a sixteenth of their time.
class Latencies {
 public:
  void add(TimeUs latency) {
    ++counts_[class_of(static_cast<std::uint64_t>(latency < 0 ? 0 : latency))];
    ++total_;
  }
  void add(const Latencies& others) {
    for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += others.counts_[i];
    total_ += others.total_;
  }
  // The upper end of the class in which the `part` of all times ends (0.5: the median).
  TimeUs part(double part) const {
    const auto wanted = static_cast<std::uint64_t>(part * static_cast<double>(total_));
    std::uint64_t seen = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      seen += counts_[i];
      if (seen > wanted) return end_of(i);
    }
    return end_of(counts_.size() - 1);
  }
  std::uint64_t total() const { return total_; }

 private:
  static constexpr int kFine = 4;  // bits below the leading one
  static std::size_t class_of(std::uint64_t value) {
    if (value < (1u << kFine)) return value;
    const int exponent = std::bit_width(value) - 1 - kFine;
    return (static_cast<std::size_t>(exponent) << kFine) + (value >> exponent);
  }
  static TimeUs end_of(std::size_t i) {
    if (i < (1u << kFine)) return static_cast<TimeUs>(i);
    const std::size_t exponent = (i >> kFine) - 1;
    const std::uint64_t mantissa = (i & ((1u << kFine) - 1)) + (1u << kFine);
    return static_cast<TimeUs>(((mantissa + 1) << exponent) - 1);
  }
  std::array<std::uint64_t, 64u << kFine> counts_{};
  std::uint64_t total_ = 0;
};

struct Tally {
  bool measuring = false;
  std::uint64_t announces = 0;  // answered
  std::uint64_t peers = 0;      // in the answers
  std::uint64_t slow_downs = 0;
  std::uint64_t refusals = 0;    // other errors of the tracker's
  std::uint64_t handshakes = 0;  // TLS ones that were finished
  std::uint64_t reply_bytes = 0;
  Latencies latencies;
  std::size_t open = 0;  // connections, whether measuring or not
  std::map<std::string, std::uint64_t> errors;

  void answered(TimeUs latency, std::size_t peer_count, std::size_t bytes) {
    if (!measuring) return;
    ++announces;
    peers += peer_count;
    reply_bytes += bytes;
    latencies.add(latency);
  }
};

}  // namespace firn::tracker_load
