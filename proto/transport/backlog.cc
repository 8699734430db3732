#include "proto/transport/backlog.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>

#include "proto/base/stage_times.h"

namespace firn::proto::transport {
namespace {

constexpr std::uint32_t kQueueTimeUs = 5'000;
constexpr double kForgetting = 256;
constexpr std::uint32_t kNotMeasured = UINT32_MAX;  // tcpi_min_rtt, as the kernel begins

}  // namespace

std::size_t queued_bytes(const PathState& path) {
  std::uint64_t queued = path.unsent_bytes;
  if (path.rtt_us > path.rtt_min_us && path.rtt_us - path.rtt_min_us > kQueueTimeUs) {
    queued += path.unacknowledged_bytes * (path.rtt_us - path.rtt_min_us) / path.rtt_us;
  }
  return queued;
}

void SharedQueue::share(PathState& path) {
  if (path.rtt_us <= path.rtt_min_us) return;
  const double delay_us = path.rtt_us - path.rtt_min_us;
  if (!known_ || delay_us < least_us_) {
    least_us_ = delay_us;
  } else {
    least_us_ += (delay_us - least_us_) / kForgetting;
  }
  known_ = true;
  path.rtt_min_us = path.rtt_us - static_cast<std::uint32_t>(least_us_);
}

std::uint64_t drain_time_us(const PathState& path) {
  // A round-trip time takes about what is unacknowledged.
  const std::uint64_t per_rtt = path.unacknowledged_bytes > 0 ? path.unacknowledged_bytes : 1;
  return queued_bytes(path) * path.rtt_us / per_rtt;
}

std::size_t settled_bytes(std::size_t frame_bytes, std::uint32_t rtt_min_us) {
  if (rtt_min_us >= kSettledLongPathUs) return kSettledBytes;
  return std::clamp(frame_bytes / 4, kSettledBytesMin, kSettledBytes);
}

std::uint64_t settling_time_us(const PathState& path, std::uint64_t settled_us,
                               std::size_t settled) {
  if (queued_bytes(path) <= settled) return 0;
  const std::uint64_t drain_us = drain_time_us(path);
  const std::uint64_t gone_us = path.sent_for_us + settled_us;
  return drain_us > gone_us ? drain_us - gone_us : 0;
}

PathState path_state(int fd) {
  const StageScope stage(Stage::kNetwork);
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return {};
  PathState path;
  path.unsent_bytes = info.tcpi_notsent_bytes;
  path.unacknowledged_bytes = std::uint64_t{info.tcpi_unacked} * info.tcpi_snd_mss;
  path.acknowledged_bytes = info.tcpi_bytes_acked;
  path.rtt_us = info.tcpi_rtt;
  path.rtt_min_us = info.tcpi_min_rtt == kNotMeasured ? 0 : info.tcpi_min_rtt;
  return path;
}

}  // namespace firn::proto::transport
