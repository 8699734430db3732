#include "proto/transport/read_pace.h"

#include <algorithm>
#include <utility>

namespace firn::proto::transport {
namespace {

// Less than a segment is a small record that is there already.
constexpr std::size_t kSegmentBytes = 1000;
// A block of 16 KiB; longer bursts are several records, of which the first should not wait.
constexpr std::size_t kUsualBytesMax = (16 << 10) + 64;
// Well below the 40 ms after which the kernel acknowledges by itself, and short enough for a sender
// that waits for the acknowledgement.
constexpr std::uint64_t kRestMsMax = 24;
constexpr std::uint64_t kRestMsFirst = 2;
// A record that was there when it was looked for may have come faster than was thought.
constexpr double kFasterThen = 1.05;
// Rather a little late for all of a record than in time for nearly all: that would be acknowledged
// twice.
constexpr double kMargin = 1.2;

}  // namespace

std::uint64_t ReadPace::rest_for(std::size_t missing_bytes) const {
  const double expected_ms = static_cast<double>(missing_bytes) / bytes_per_us_ / 1000;
  return static_cast<std::uint64_t>(std::min(expected_ms, static_cast<double>(kRestMsMax)));
}

std::uint64_t ReadPace::first_rest_ms(std::size_t waiting_bytes, std::uint64_t now_us) {
  if (waiting_bytes < kSegmentBytes || waiting_bytes >= usual_bytes_ || bytes_per_us_ == 0)
    return 0;
  waiting_ = waiting_bytes;
  last_us_ = now_us;
  const auto missing = static_cast<double>(usual_bytes_ - waiting_bytes);
  return rest_for(static_cast<std::size_t>(kMargin * missing));
}

std::uint64_t ReadPace::rest_ms(std::size_t awaited_bytes, std::uint64_t received_bytes,
                                std::uint64_t now_us) {
  const std::uint64_t waited = std::exchange(waiting_, 0);
  const std::uint64_t came = received_bytes - received_;
  // In the midst of a record bytes come as fast as the path lets them; between records the
  // sender may have had nothing to send.
  if ((awaited_ > 0 || waited > 0) && came > waited && now_us > last_us_) {
    const double measured =
        static_cast<double>(came - waited) / static_cast<double>(now_us - last_us_);
    if (waited > 0 && awaited_bytes == 0) {
      bytes_per_us_ = std::max(measured, bytes_per_us_ * kFasterThen);
    } else {
      bytes_per_us_ = bytes_per_us_ == 0 ? measured : (bytes_per_us_ + measured) / 2;
    }
  }
  awaited_ = awaited_bytes;
  received_ = received_bytes;
  last_us_ = now_us;
  if (awaited_bytes == 0) {
    const std::uint64_t burst = received_bytes - std::exchange(idle_at_, received_bytes);
    if (burst >= kSegmentBytes)
      usual_bytes_ = static_cast<std::size_t>(std::min<std::uint64_t>(burst, kUsualBytesMax));
    return 0;
  }
  if (came == 0) return 0;
  return bytes_per_us_ == 0 ? kRestMsFirst : rest_for(awaited_bytes);
}

}  // namespace firn::proto::transport
