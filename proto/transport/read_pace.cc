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

std::uint64_t ReadPace::rest_ms(std::size_t awaited_bytes, std::uint64_t received_bytes,
                                std::uint64_t now_us) {
  const std::uint64_t came = received_bytes - received_;
  // In the midst of a record bytes come as fast as the path lets them; between records nobody may
  // have been sending.
  if (awaited_ > 0 && came > 0 && now_us > last_us_) {
    const double measured = static_cast<double>(came) / static_cast<double>(now_us - last_us_);
    bytes_per_us_ = bytes_per_us_ == 0 ? measured : (bytes_per_us_ + measured) / 2;
  }
  awaited_ = awaited_bytes;
  received_ = received_bytes;
  last_us_ = now_us;
  if (awaited_bytes < kWorthBytes || came == 0) return 0;
  if (bytes_per_us_ == 0) return kRestMsFirst;
  const double expected_ms = static_cast<double>(awaited_bytes) / bytes_per_us_ / 1000;
  return static_cast<std::uint64_t>(std::min(expected_ms, static_cast<double>(kRestMsMax)));
}

}  // namespace firn::proto::transport
