// One connected peer, from both sides: what we know of what it holds and takes (we as its sender),
// and what we have told and granted it (we as its receiver). Facts and book-keeping; decisions are
// in scheduler.h and leases.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "client/core/actions.h"
#include "client/core/generation_set.h"
#include "client/core/rates.h"
#include "client/core/types.h"
#include "proto/messages.h"

namespace firn::core {

// A generation that a neighbour has not verified, as its last State tells.
struct RemoteGeneration {
  std::uint32_t rank = 0;
  std::uint32_t in_flight = 0;            // blocks sent to it and not acknowledged
  std::uint32_t sent = 0;                 // blocks sent to it in all
  std::uint32_t first_sequence = 0;       // older blocks in flight belong to an earlier life of it
  std::optional<std::uint32_t> quota;     // it takes so many in flight; unset: no limit but credit
  std::vector<std::uint8_t> null_vector;  // empty, or orthogonal to all it holds
  std::uint32_t null_tested_at = UINT32_MAX;  // our rank when we last tested whether we reach it
  bool null_reached = false;

  std::uint32_t expected_rank() const { return rank + in_flight; }
};

class Neighbour {
 public:
  Neighbour(PeerKey key, const PeerId& id, std::string ip, std::uint16_t port, bool outgoing,
            TimeUs now);

  // Called once the shape is known; forgets what was known of generations.
  void set_shape(std::uint32_t generation_count, std::uint32_t generation_size);

  // --- as its sender ---

  // Takes over a State. False if it breaks a rule (a generation that does not exist, a rank above
  // n, an acknowledgement of what was never sent, a null vector of wrong length).
  bool apply_state(proto::State&& state);
  bool may_send() const { return state_seen && credit_ > sequence_; }
  // Books a block; returns its sequence number.
  std::uint32_t book_block(std::uint32_t generation, TimeUs now);
  // The oldest queued block has been sent; 0 bytes: it could not be made and is not in flight. The
  // numbers of the last blocks that could not be made are used again: the receiver does not hear
  // of them and could not renew their credit.
  void block_departed(std::uint64_t bytes, TimeUs now);
  // Since when its socket has taken nothing of what is queued; kNever: nothing is queued.
  TimeUs waiting_since() const { return queued > 0 ? waiting_since_ : kNever; }
  bool stuck(TimeUs now) const;

  const GenerationSet& complete() const { return complete_; }
  bool has_everything() const { return state_seen && complete_.full(); }
  std::uint32_t remote_rank(std::uint32_t g) const {
    return complete_.contains(g) ? generation_size_ : partial_rank(g);
  }
  RemoteGeneration& remote(std::uint32_t g);
  const std::map<std::uint32_t, RemoteGeneration>& partial() const { return partial_; }
  // Rank over all generations, counting what is on its way.
  std::uint64_t expected_total_rank() const { return total_rank_ + in_flight_.size(); }
  std::uint64_t total_rank() const { return total_rank_; }
  // Lowest generation it has not verified.
  std::uint32_t base() const { return complete_.next_missing(0); }

  // --- as its receiver ---

  // Books an arrived block; false if its sequence number breaks the rules (not rising, beyond the
  // credit granted).
  bool book_arrival(std::uint32_t sequence, std::uint64_t bytes, TimeUs now);
  std::uint32_t outstanding() const { return credit_granted - highest_received; }
  // No block has come or gone lately.
  TimeUs idle_since() const { return std::max({opened, last_arrival, last_departure}); }
  double receive_rate(TimeUs now) const { return received_rate_.bytes_per_second(now); }
  double send_rate(TimeUs now) const { return sent_rate_.bytes_per_second(now); }
  // Blocks a second that we have chosen to send it of late, over a few seconds.
  double served_rate(TimeUs now) const { return served_rate_.bytes_per_second(now); }
  bool stalled(TimeUs now) const {
    return outstanding() > 0 && now - last_arrival > 3 * kSecond && now - last_grant > 3 * kSecond;
  }

  // --- identity ---
  const PeerKey key;
  const PeerId id;
  const std::string ip;
  const std::uint16_t port;
  const bool outgoing;
  const TimeUs opened;

  // --- handshake ---
  bool hello_seen = false;
  bool state_seen = false;  // its first State has come: we may send blocks
  bool state_sent = false;
  bool has_manifest = false;
  bool manifest_asked = false;  // since the last step: a part is on its way to it
  std::uint16_t listen_port = 0;
  bool prefers_coded = false;
  TimeUs gossip_due = 0;  // before then its peer exchange is not listened to

  // --- sending ---
  std::uint32_t queued = 0;  // blocks emitted that have not departed
  TimeUs last_departure = 0;
  std::uint32_t look_from = 0;  // where to look on if the lowest generations are of no use to it

  // --- receiving ---
  std::uint32_t window = 4;  // blocks it may have outstanding (leases.h adapts it)
  std::uint32_t exhausted_streak = 0;
  std::uint32_t credit_granted = 0;
  std::uint32_t highest_received = 0;
  std::uint32_t acknowledged_to_it = 0;
  TimeUs last_arrival = 0;
  TimeUs last_grant = 0;
  TimeUs last_state = -kSecond;
  bool urgent = false;                      // tell it soon: a generation is complete, rows lost
  std::set<std::uint32_t> changed;          // generations to report
  std::vector<std::uint32_t> new_complete;  // verified generations to report
  std::map<std::uint32_t, std::vector<std::uint8_t>> null_vectors;  // to attach once

  // --- counters ---
  std::uint64_t blocks_received = 0;
  std::uint64_t blocks_innovative = 0;
  std::uint64_t blocks_recoded = 0;
  std::uint64_t blocks_sent = 0;
  std::uint32_t recent_blocks = 0;  // for usefulness
  std::uint32_t recent_redundant = 0;

 private:
  std::uint32_t partial_rank(std::uint32_t g) const {
    const auto it = partial_.find(g);
    return it == partial_.end() ? 0 : it->second.rank;
  }
  bool acknowledge(std::uint32_t sequence);
  void not_in_flight(std::uint32_t sequence, std::uint32_t g);
  void keep_null_vector(std::uint32_t g, std::vector<std::uint8_t>&& z);
  void mark_complete(std::uint32_t g);
  void mark_incomplete(std::uint32_t g);

  std::uint32_t generation_size_ = 0;
  GenerationSet complete_;
  std::map<std::uint32_t, RemoteGeneration> partial_;
  std::uint64_t total_rank_ = 0;
  std::uint32_t credit_ = 0;
  std::uint32_t sequence_ = 0;
  std::uint32_t departed_ = 0;   // sequence number of the last block that left or failed
  std::uint32_t last_sent_ = 0;  // of the last that left
  TimeUs waiting_since_ = 0;
  std::uint32_t acknowledged_ = 0;
  std::deque<std::pair<std::uint32_t, std::uint32_t>> in_flight_;  // sequence, generation
  std::deque<std::uint32_t> null_held_;  // generations whose null vectors are kept, oldest first
  RateMeter received_rate_;
  RateMeter sent_rate_;
  RateMeter served_rate_{5 * kSecond};
};

}  // namespace firn::core
