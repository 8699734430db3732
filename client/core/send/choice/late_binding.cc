#include "client/core/send/choice/late_binding.h"

#include <algorithm>
#include <cmath>

#include "client/core/neighbour/pipeline.h"

namespace firn::core::policy {

// Connections with unsent blocks at once. Each more is a block that is chosen earlier than need be;
// with only one the uplink stands idle between two blocks, and a neighbour that reads nothing holds
// up all. So from two on, as many as it takes to hold kBusyTime; two in large meshes [003].
constexpr std::uint32_t kBusyConnectionsMin = 2;      // one: +4 % at 40 peers [096]
constexpr std::uint32_t kBusyConnections = 3;         // six: +3 % [096]
constexpr TimeUs kBusyTime = 40 * kMillisecond;       // of the uplink, held by waiting blocks
constexpr TimeUs kBusyTimeLarge = 20 * kMillisecond;  // in large meshes
// The next block of a source is innovative at any receiver: choosing early costs it little, an idle
// uplink costs all [004]. Eight: six of twelve that send sparse rows cost 31 % more [096].
constexpr std::uint32_t kBusyConnectionsSource = 4;
constexpr TimeUs kBusyTimeSource = 2 * kMillisecond;  // of a fast source's, one each
// Blocks smaller than kRunBlock of one generation that a fast source chooses for a neighbour at
// once: kRunBytes of them, where it sends more blocks a second (kRunRate) than its threads could be
// told of one by one. A choice looks at the neighbour's part of the memory, wakes threads and makes
// a record of TLS, whatever the size of the block [078]. At least kRunsWaiting bytes may wait in
// sockets then, or kRunsWaitingTime's: the rate follows from what may wait, and would sink with it
// where departures are heard of later [082].
constexpr std::size_t kRunBlock = 16384;
constexpr std::size_t kRunBytes = 65536;
constexpr double kRunRate = 12'000;  // blocks a second
constexpr std::size_t kRunsWaiting = 2 * 1024 * 1024;
constexpr TimeUs kRunsWaitingTime = 20 * kMillisecond;
// A connection is slow for a reason of its own if its block has not left when all waiting blocks
// could have left so many times (a congestion window, acknowledgements that stand in the receiver's
// narrow uplink) and leaves its place to another [007]. Half: +89 % at home, +50 % with polluters;
// double: home +11 % [096].
constexpr double kPatienceTurns = 1.5;

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
