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
  status.endpoint = to_text(Address{std::nullopt, n.contact.ip(), n.contact.port()});
  status.outgoing = n.contact.outgoing();
  if (holdings && holdings->total_possible() > 0) {
    status.held =
        static_cast<double>(n.holds.total_rank()) / static_cast<double>(holdings->total_possible());
  }
  status.bytes_received = n.traffic.bytes_received();
  status.bytes_sent = n.traffic.bytes_sent();
  status.down_rate = n.traffic.down_rate(now);
  status.up_rate = n.traffic.up_rate(now);
  status.blocks_received = n.grants.blocks_received();
  status.blocks_innovative = n.traffic.blocks_innovative();
  status.blocks_sent = n.pipe.blocks_sent();
  status.connected_for = now - n.contact.opened_at();
  status.silent_for = now - n.traffic.heard_at();
  using State = PeerStatus::State;
  const bool sends = n.grants.blocks_received() > 0 && now - n.grants.last_arrival() < kLately;
  const bool receives = n.pipe.blocks_sent() > 0 && now - n.pipe.last_departure() < kLately;
  status.state = !n.contact.greeted()                                             ? State::kGreeting
                 : !n.holds.heard()                                               ? State::kWaiting
                 : n.pipe.stuck(now)                                              ? State::kStuck
                 : sends && receives                                              ? State::kBoth
                 : sends                                                          ? State::kSends
                 : receives                                                       ? State::kReceives
                 : !complete && n.grants.stalled(now) && n.holds.total_rank() > 0 ? State::kSilent
                                                                                  : State::kIdle;
  return status;
}

}  // namespace firn::core
