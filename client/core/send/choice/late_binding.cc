#include "client/core/send/choice/late_binding.h"

#include <algorithm>
#include <cmath>

#include "client/core/base/constants.h"

namespace firn::core::policy {

std::optional<WhyNot> why_no_room(const Neighbour& neighbour, const Sockets& sockets) {
  const std::uint32_t queued = neighbour.pipe.queued();
  if (queued >= neighbour.pipe.depth()) return WhyNot::kSocketFull;
  if (queued == 0 && !sockets.free()) return WhyNot::kUplinkBusy;
  return std::nullopt;
}

std::optional<WhyNot> why_none_now(const Neighbour& neighbour, const Sockets& sockets) {
  if (neighbour.holds.satisfied()) return WhyNot::kWantsNothing;
  if (const auto why = neighbour.why_not_send()) return why;
  return why_no_room(neighbour, sockets);
}

std::uint32_t busy_connections_max(double blocks_per_second, bool small_mesh) {
  const TimeUs time = small_mesh ? kBusyTime : kBusyTimeLarge;
  const double blocks = blocks_per_second * static_cast<double>(time) * 1e-6;
  if (blocks <= 0) return kBusyConnections;
  const auto rounded = static_cast<std::uint32_t>(std::ceil(std::min(blocks, 100.0)));
  return std::clamp(rounded, kBusyConnectionsMin, kBusyConnections);
}

std::uint32_t blocks_at_once(double blocks_per_second, std::size_t block_bytes) {
  if (blocks_per_second < kRunRate || block_bytes >= kRunBlock) return 1;
  return std::min(static_cast<std::uint32_t>(kRunBytes / block_bytes), kPipelineMax);
}

std::uint32_t busy_connections_source(double blocks_per_second, std::uint32_t at_once,
                                      std::size_t block_bytes) {
  const auto sent_in = [&](TimeUs time) {
    return blocks_per_second * static_cast<double>(time) * 1e-6;
  };
  double blocks = sent_in(kBusyTimeSource);
  if (at_once > 1) {
    const auto waiting = static_cast<double>(kRunsWaiting / block_bytes);
    blocks = std::max(blocks, std::min(waiting, sent_in(kRunsWaitingTime)));
  }
  const auto connections = static_cast<std::uint32_t>(std::min(blocks, 1e6)) / at_once;
  return std::max(kBusyConnectionsSource, connections);
}

TimeUs uplink_patience(double blocks_per_second, std::uint32_t waiting_max) {
  const double turn = 1e6 * waiting_max / std::max(blocks_per_second, 1e-3);
  return static_cast<TimeUs>(std::min(turn * kPatienceTurns, static_cast<double>(kStuckTime)));
}

}  // namespace firn::core::policy
