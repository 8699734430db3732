// One connected peer, from both sides: what we know of what it holds and takes (we as its sender),
// and what we have told and granted it (we as its receiver). Facts and book-keeping; decisions are
// in scheduler.h and leases.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "client/core/actions.h"
#include "client/core/generation_set.h"
#include "client/core/policy.h"
#include "client/core/rates.h"
#include "client/core/remote_generations.h"
#include "client/core/types.h"
#include "proto/messages.h"
#include "proto/shape.h"

namespace firn::core {

// A vector orthogonal to all that a neighbour holds of a generation, as it sent it.
struct NullVector {
  std::vector<std::uint8_t> z;
  std::uint32_t tested_at = UINT32_MAX;  // our rank when we last tested whether we reach it
  bool reached = false;
};

class Neighbour {
 public:
  // What every step of the core looks at, in as few cache lines as it takes.
  const PeerKey key;
  TimeUs state_due = 0;  // a State is due then at the earliest; 0: it is to be worked out
  TimeUs last_arrival = 0;
  TimeUs last_grant = 0;
  std::uint32_t credit_granted = 0;
  std::uint32_t highest_received = 0;
  std::uint32_t window = 4;  // blocks it may have outstanding (leases.h adapts it)
  std::uint32_t queued = 0;  // blocks emitted that have not departed
  bool hello_seen = false;
  bool state_seen = false;  // its first State has come: we may send blocks
  bool state_sent = false;

 private:
  std::uint32_t credit_ = 0;
  std::uint32_t sequence_ = 0;
  std::uint32_t depth_ = 1;
  std::uint64_t total_rank_ = 0;
  TimeUs waiting_since_ = 0;

 public:
  Neighbour(PeerKey key, const PeerId& id, std::string ip, std::uint16_t port, bool outgoing,
            TimeUs now);

  // Called once the shape is known; forgets what was known of generations.
  void set_shape(const Shape& shape);

  // --- as its sender ---

  // Takes over a State. False if it breaks a rule (a generation that does not exist, a rank above
  // n, an acknowledgement of what was never sent, a null vector of wrong length).
  bool apply_state(proto::State&& state);
  std::uint32_t acknowledged() const { return acknowledged_; }
  bool may_send() const { return state_seen && credit_ > sequence_; }
  // Books a block; returns its sequence number.
  std::uint32_t book_block(std::uint32_t generation, TimeUs now);
  // The oldest queued block has been sent; 0 bytes: it could not be made and is not in flight. The
  // numbers of the last blocks that could not be made are used again: the receiver does not hear
  // of them and could not renew their credit.
  // Returns its number; 0 if none was queued.
  std::uint32_t block_departed(std::uint64_t bytes, TimeUs now);
  // Since when its socket has taken nothing of what is queued; kNever: nothing is queued.
  TimeUs waiting_since() const { return queued > 0 ? waiting_since_ : kNever; }
  // Its socket has taken nothing for `patience`: what is queued waits for the other side and its
  // path, not for our uplink.
  bool stuck(TimeUs now) const { return stuck_at() <= now; }
  TimeUs stuck_at() const { return queued > 0 ? waiting_since_ + patience : kNever; }
  TimeUs patience = policy::kStuckTime;

  const GenerationSet& complete() const { return complete_; }
  bool has_everything() const { return state_seen && complete_.full(); }
  // Generations of which it takes no rows: those it has in whole, and those it does not want.
  const GenerationSet& settled() const { return settled_; }
  bool wants(std::uint32_t g) const { return !settled_.contains(g); }
  // It needs no more blocks of anything.
  bool satisfied() const { return state_seen && settled_.full(); }
  // Generations that it held in whole once and says that it cannot serve any more; of size 0 where
  // it has said so of none.
  const GenerationSet& withdrawn() const { return withdrawn_; }
  std::uint32_t remote_rank(std::uint32_t g) const {
    return complete_.contains(g) ? shape_.blocks_in(g) : partial_rank(g);
  }
  RemoteGeneration& remote(std::uint32_t g);
  const RemoteGenerations& partial() const { return partial_; }
  // The null vector of g; null if there is none. remote(g).has_null_vector says so at once.
  NullVector* null_vector(std::uint32_t g);
  // Rank over all generations, counting what is on its way.
  std::uint64_t expected_total_rank() const { return total_rank_ + in_flight_.size(); }
  std::uint64_t total_rank() const { return total_rank_; }
  // Lowest generation it has not verified.
  std::uint32_t base() const { return complete_.next_missing(0); }

  // How many blocks may wait in its socket, as its rate was when the last one left.
  std::uint32_t pipeline_depth() const { return depth_; }

  // --- as its receiver ---

  // It is to be told of generation g, or need not be any more.
  void report(std::uint32_t g);
  void unreport(std::uint32_t g);
  void report_complete(std::uint32_t g);
  // We held g in whole and cannot serve it any more, nor want it.
  void report_withdrawn(std::uint32_t g);
  bool has_reports() const {
    return !changed.empty() || !new_complete.empty() || !new_withdrawn.empty() ||
           acknowledged_to_it != highest_received;
  }
  // Its next State may be due at another time than was worked out.
  void touch() { state_due = 0; }

  // Books an arrived block; false if its sequence number breaks the rules (not rising, beyond the
  // credit granted).
  bool book_arrival(std::uint32_t sequence, std::uint64_t bytes, TimeUs now);
  std::uint32_t outstanding() const { return credit_granted - highest_received; }
  // No credit is left to be granted on this connection, and what was granted has come.
  bool credit_used_up() const { return credit_granted == UINT32_MAX && outstanding() == 0; }
  // Raises its credit, which is told with the State that is being made.
  void grant(std::uint32_t blocks, TimeUs now);
  // Shortest time from a grant to the first block that could not have come without it; 0: not
  // known. If it had run out of credit once and had something for us, that is a round trip.
  TimeUs round_trip() const { return round_trip_; }
  // No block has come or gone lately.
  TimeUs idle_since() const { return std::max({opened, last_arrival, last_departure}); }
  double receive_rate(TimeUs now) const { return received_rate_.bytes_per_second(now); }
  double send_rate(TimeUs now) const { return sent_rate_.bytes_per_second(now); }
  // Blocks a second that we have chosen to send it of late, over a few seconds.
  double served_rate(TimeUs now) const { return served_rate_.bytes_per_second(now); }
  // It has had credit for long and sent nothing, though it holds something: a peer that only takes,
  // or one whose uplink does not reach as far as us.
  bool only_takes(TimeUs now) const {
    return outstanding() > 0 && total_rank_ > 0 &&
           now - std::max(last_arrival, opened) >= policy::kTakerTime;
  }
  bool stalled(TimeUs now) const {
    return outstanding() > 0 && now - last_arrival > 3 * kSecond && now - last_grant > 3 * kSecond;
  }

  // --- identity ---
  const PeerId id;
  const std::string ip;
  const std::uint16_t port;
  const bool outgoing;
  const TimeUs opened;

  // --- handshake ---
  bool has_manifest = false;
  std::optional<std::uint64_t> manifest_wanted;  // offset of the part it asked for, not yet sent
  bool manifest_part_leaves = false;             // one was sent and is not out of our hands
  std::uint16_t listen_port = 0;
  bool prefers_coded = false;
  std::uint32_t upload_kib = 0;  // as it says; 0: not known
  std::uint32_t neighbours = 0;  // that it has, as it says; 0: not known
  TimeUs welcomed_at = 0;        // its Hello came
  TimeUs told_peers_at = 0;      // it was told of others
  TimeUs gossip_due = 0;         // before then its peer exchange is not listened to

  // --- sending ---
  TimeUs last_departure = 0;
  std::uint64_t blocks_reviewed = 0;  // moved both ways when its use was last looked at
  std::uint64_t last_choice = 0;      // of a relay: the number of its last choice of this neighbour
  std::uint32_t look_from = 0;  // where to look on if the lowest generations are of no use to it

  // --- receiving ---
  std::uint32_t exhausted_streak = 0;
  bool ran_dry = false;  // it had sent all it might, and waited for a grant most of a round trip
  std::uint32_t acknowledged_to_it = 0;
  std::uint32_t neighbours_told = 0;  // how many we have, as it knows
  TimeUs last_state = -kSecond;
  bool urgent = false;                       // tell it soon: a generation is complete, rows lost
  std::vector<std::uint32_t> changed;        // generations to report, ascending
  std::vector<std::uint32_t> new_complete;   // verified generations to report
  std::vector<std::uint32_t> new_withdrawn;  // generations lost for good, to report
  std::map<std::uint32_t, std::vector<std::uint8_t>> null_vectors;  // to attach once

  // --- counters ---
  TimeUs heard_at = 0;               // its last message came, or the connection stood
  std::uint64_t bytes_received = 0;  // frames of all kinds
  std::uint64_t bytes_sent = 0;
  RateMeter down_shown{3 * kSecond};  // the same, for people
  RateMeter up_shown{3 * kSecond};
  std::uint64_t blocks_received = 0;
  std::uint64_t blocks_innovative = 0;
  std::uint64_t blocks_recoded = 0;
  std::uint64_t blocks_sent = 0;
  std::uint32_t recent_blocks = 0;  // for usefulness
  std::uint32_t recent_redundant = 0;
  TimeUs recent_since = 0;  // when the first of them came

 private:
  std::uint32_t partial_rank(std::uint32_t g) const {
    const RemoteGeneration* known = partial_.find(g);
    return known ? known->rank : 0;
  }
  bool acknowledge(std::uint32_t sequence);
  void not_in_flight(std::uint32_t sequence, std::uint32_t g);
  void keep_null_vector(std::uint32_t g, std::vector<std::uint8_t>&& z);
  void drop_null_vector(std::uint32_t g);
  void mark_complete(std::uint32_t g);
  void mark_incomplete(std::uint32_t g);
  bool take_back(const proto::State& state);
  void withdraw(const proto::Span& span);
  void settle_unwanted(const proto::Span& span);

  Shape shape_;
  GenerationSet complete_;
  GenerationSet settled_;         // complete_, and what it does not want
  GenerationSet withdrawn_;       // none of complete_
  std::uint64_t taken_back_ = 0;  // generations that spans made incomplete again
  std::uint64_t states_ = 0;
  RemoteGenerations partial_;
  std::uint32_t departed_ = 0;   // sequence number of the last block that left or failed
  std::uint32_t last_sent_ = 0;  // of the last that left
  std::uint32_t acknowledged_ = 0;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> in_flight_;  // sequence, generation
  std::vector<std::pair<std::uint32_t, NullVector>> null_vectors_;  // by generation, oldest first
  std::uint32_t awaited_ = 0;  // first sequence number of the grant that is timed; 0: none is
  TimeUs awaited_since_ = 0;
  TimeUs round_trip_ = 0;
  RateMeter received_rate_;
  RateMeter sent_rate_;
  RateMeter served_rate_{5 * kSecond};
};

}  // namespace firn::core
