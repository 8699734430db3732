#include "client/core/send/choice/late_binding.h"

#include <algorithm>
#include <cmath>

#include "client/core/neighbour/pipeline.h"

namespace firn::core::policy {

// Connections with unsent blocks at once: as many as hold kBusyTime of the uplink. This peer hears
// of a departure by its acknowledgement, which stands behind the blocks of the receiver and comes
// up to 30 ms after it: if all that may wait have left by then, the uplink stands idle [097]. Each
// more is a block that is chosen earlier than need be. What a source sends next is innovative at
// any receiver, so that choosing early costs it little [004].
constexpr TimeUs kBusyTime = 65 * kMillisecond;
constexpr std::uint32_t kBusyConnectionsMin = 2;  // one that reads nothing would hold up all
constexpr std::uint32_t kBusyConnections = 4;
constexpr TimeUs kBusyTimeSource = 2 * kMillisecond;  // of a fast source's, however many that is
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

namespace {

std::uint32_t busy_connections(double blocks_per_second, std::uint32_t most) {
  const double blocks = std::ceil(blocks_per_second * static_cast<double>(kBusyTime) * 1e-6);
  return static_cast<std::uint32_t>(std::clamp<double>(blocks, kBusyConnectionsMin, most));
}

}  // namespace

std::uint32_t busy_connections_relay(double blocks_per_second) {
  return busy_connections(blocks_per_second, kBusyConnections);
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
  return std::max(busy_connections(blocks_per_second, kBusyConnectionsSource), connections);
}

TimeUs uplink_patience(double blocks_per_second, std::uint32_t waiting_max) {
  const double turn = 1e6 * waiting_max / std::max(blocks_per_second, 1e-3);
  return static_cast<TimeUs>(std::min(turn * kPatienceTurns, static_cast<double>(kStuckTime)));
}

}  // namespace firn::core::policy
