#include "client/core/peer_status.h"

#include "client/core/neighbour.h"

namespace firn::core {

namespace {

// Blocks that came or went within this time show what a neighbour is doing.
constexpr TimeUs kLately = 3 * kSecond;

PeerStatus::State state_of(const Neighbour& n, bool complete, bool stuck, TimeUs now) {
  using State = PeerStatus::State;
  if (!n.contact.greeted()) return State::kGreeting;
  if (!n.holds.heard()) return State::kWaiting;
  if (stuck) return State::kStuck;
  const bool sends = n.grants.blocks_received() > 0 && now - n.grants.last_arrival() < kLately;
  const bool receives = n.pipe.blocks_sent() > 0 && now - n.pipe.last_departure() < kLately;
  if (sends && receives) return State::kBoth;
  if (sends) return State::kSends;
  if (receives) return State::kReceives;
  const bool owes = n.grants.stalled(now) && n.holds.total_rank() > 0;
  return !complete && owes ? State::kSilent : State::kIdle;
}

}  // namespace

PeerStatus status_of(const Neighbour& n, std::uint64_t rows, bool complete, bool stuck,
                     TimeUs now) {
  PeerStatus status;
  status.id = n.id;
  status.endpoint = n.contact.endpoint();
  status.agent = n.contact.agent();
  status.rank = n.holds.total_rank();
  status.outgoing = n.contact.outgoing();
  status.authority = n.contact.authority();
  if (rows > 0) {
    status.held = static_cast<double>(n.holds.total_rank()) / static_cast<double>(rows);
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
  status.state = state_of(n, complete, stuck, now);
  return status;
}

}  // namespace firn::core
