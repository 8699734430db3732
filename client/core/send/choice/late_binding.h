// Limits how many blocks are chosen before they can leave. A block that waits in a socket was
// chosen earlier than need be; if none waits, the uplink may be idle. And why a neighbour can be
// given nothing now, whatever there is for it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "client/core/base/why_not.h"
#include "client/core/neighbour/neighbours.h"

namespace firn::core::policy {

// At a source. 16: half of twelve hostile +20 % [097].
inline constexpr std::uint32_t kBusyConnectionsSource = 6;
inline constexpr TimeUs kStuckTime = 3 * kSecond;  // then a socket that takes nothing is stuck

// Connections with blocks that wait in their sockets, and how many there may be.
struct Sockets {
  std::uint32_t busy = 0, busy_max = 0;
  bool free() const { return busy < busy_max; }
};

// Why the neighbour's socket can take no other block (Pipeline::depth); nullopt: it can.
std::optional<WhyNot> why_no_room(const Neighbour& neighbour, const Sockets& sockets);

// Why the neighbour can be given no block now, whatever there is for it; nullopt: it can.
std::optional<WhyNot> why_none_now(const Neighbour& neighbour, const Sockets& sockets);

// How many connections a relay may keep busy at a time, whose uplink was seen to carry
// `blocks_per_second` (0: not known).
std::uint32_t busy_connections_relay(double blocks_per_second);

// How many blocks of one generation a source of such an uplink chooses for a neighbour at once.
std::uint32_t blocks_at_once(double blocks_per_second, std::size_t block_bytes);

// As busy_connections_relay, of a source, whose neighbours may be many and each of them slow; it
// chooses `at_once` blocks for each at a time.
std::uint32_t busy_connections_source(double blocks_per_second, std::uint32_t at_once,
                                      std::size_t block_bytes);

// How long a block may wait in a socket before it counts as waiting for something else than such an
// uplink, for which `waiting_max` blocks may wait in all sockets.
TimeUs uplink_patience(double blocks_per_second, std::uint32_t waiting_max);

}  // namespace firn::core::policy
