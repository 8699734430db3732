// What the swarm core shows to people: why nothing moves, and its neighbours.
#include "client/core/explain.h"
#include "client/core/swarm_impl.h"
#include "proto/address.h"

namespace firn::core {

namespace {
// Blocks that came or went within this time show what a neighbour is doing.
constexpr TimeUs kLately = 3 * kSecond;
}  // namespace

Standstill SwarmCore::Impl::standstill() {
  // Where nothing limits the rate but memory, nothing can be granted because of what waits in it.
  const bool behind = holdings && down.unlimited() && rows_in_memory > 0 && !holdings->complete() &&
                      grant_limits().blocks_max == 0;
  const bool limited = holdings && !down.unlimited() && !down.ready(now);
  return explain({book, announcer, options.trackers, tracked_peers, neighbours,
                  holdings ? &*holdings : nullptr, store_error, behind, limited});
}

PeerStatus SwarmCore::Impl::status_of(const Neighbour& n) const {
  PeerStatus status;
  status.id = n.id;
  status.endpoint = to_text(Address{std::nullopt, n.ip, n.port});
  status.outgoing = n.outgoing;
  if (holdings && holdings->total_possible() > 0) {
    status.held =
        static_cast<double>(n.total_rank()) / static_cast<double>(holdings->total_possible());
  }
  status.bytes_received = n.bytes_received;
  status.bytes_sent = n.bytes_sent;
  status.down_rate = n.down_shown.bytes_per_second(now);
  status.up_rate = n.up_shown.bytes_per_second(now);
  status.blocks_received = n.blocks_received;
  status.blocks_innovative = n.blocks_innovative;
  status.blocks_sent = n.blocks_sent;
  status.connected_for = now - n.opened;
  status.silent_for = now - n.heard_at;
  using State = PeerStatus::State;
  const bool sends = n.blocks_received > 0 && now - n.last_arrival < kLately;
  const bool receives = n.blocks_sent > 0 && now - n.last_departure < kLately;
  status.state = !n.hello_seen                                       ? State::kGreeting
                 : !n.state_seen                                     ? State::kWaiting
                 : n.stuck(now)                                      ? State::kStuck
                 : sends && receives                                 ? State::kBoth
                 : sends                                             ? State::kSends
                 : receives                                          ? State::kReceives
                 : !complete && n.stalled(now) && n.total_rank() > 0 ? State::kSilent
                                                                     : State::kIdle;
  return status;
}

}  // namespace firn::core
