// How many blocks may be chosen before they can leave. A block that waits in a socket was chosen
// too early; where none waits, the uplink may stand idle.
#pragma once

#include <cstdint>

#include "client/core/neighbours.h"

namespace firn::core::policy {

// Connections with blocks that wait in their sockets. A stuck one (a neighbour that reads nothing)
// does not count: it must not hold up the others.
std::uint32_t busy_connections(const Neighbours& neighbours, TimeUs now);

// Whether the neighbour's socket can take another block (Pipeline::depth), where `busy` of
// `busy_max` connections are busy.
bool can_take_block(const Neighbour& neighbour, std::uint32_t busy, std::uint32_t busy_max);

// How many connections may be busy at a time, for an uplink that was seen to carry
// `blocks_per_second` (0: not known).
std::uint32_t busy_connections_max(double blocks_per_second, bool small_mesh);

// How long a block may wait in a socket before it counts as waiting for something else than such an
// uplink, of which `busy_max` connections have one each.
TimeUs uplink_patience(double blocks_per_second, std::uint32_t busy_max);

}  // namespace firn::core::policy
