#include "proto/transport/read_pace.h"

#include <algorithm>

namespace firn::proto::transport {
namespace {

// With less missing the next wake-up is the last anyway.
constexpr std::size_t kWorthBytes = 3000;
// Well below the 40 ms after which the kernel acknowledges by itself, and short enough for a sender
// that waits for the acknowledgement.
constexpr std::uint64_t kRestMsMax = 16;
constexpr std::uint64_t kRestMsFirst = 2;

}  // namespace

std::uint64_t ReadPace::rest_ms(std::size_t awaited_bytes, std::uint64_t now_us) {
  // Of the same record: the rate at which it comes.
  if (awaited_ > awaited_bytes && now_us > last_us_) {
    const double measured =
        static_cast<double>(awaited_ - awaited_bytes) / static_cast<double>(now_us - last_us_);
    bytes_per_us_ = bytes_per_us_ == 0 ? measured : (bytes_per_us_ + measured) / 2;
  }
  awaited_ = awaited_bytes;
  last_us_ = now_us;
  if (awaited_bytes < kWorthBytes) return 0;
  if (bytes_per_us_ == 0) return kRestMsFirst;
  const double expected_ms = static_cast<double>(awaited_bytes) / bytes_per_us_ / 1000;
  return static_cast<std::uint64_t>(std::min(expected_ms, static_cast<double>(kRestMsMax)));
}

}  // namespace firn::proto::transport
