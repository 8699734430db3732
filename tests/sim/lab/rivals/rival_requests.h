// Which block of a rival swarm comes next: what peers ask each other for, and what an uplink sends.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "codec/random.h"
#include "tests/sim/lab/rivals/rival_mesh.h"
#include "tests/sim/lab/time_queue.h"

namespace firn::sim {

// What requests need of the swarm.
class RivalSenders {
 public:
  virtual ~RivalSenders() = default;
  // Whether the source decides what it sends; else it is asked like every peer.
  virtual bool source_chooses() const = 0;
  // The block for `to`, which is not complete, chosen by the source; nullopt: none now.
  virtual std::optional<BlockId> source_block(std::size_t to) = 0;
  // The uplink of `peer` may find something to send.
  virtual void transmit(RivalPeer& peer) = 0;
};

class RivalRequests {
 public:
  struct Choice {
    RivalEndKey key = 0;  // the sender's end
    BlockId id = 0;
  };

  // All of them outlive this. A request that travels is an event of `request_kind`.
  RivalRequests(const RivalRules& rules, const std::vector<std::uint32_t>& group_of,
                std::uint32_t request_kind, RivalMesh& mesh, TimeQueue& queue,
                codec::CoefficientStream& random, RivalSenders& senders)
      : rules_(rules),
        group_of_(group_of),
        request_kind_(request_kind),
        mesh_(mesh),
        queue_(queue),
        random_(random),
        senders_(senders) {}

  // --- receivers ---
  void ask(RivalPeer& peer, RivalEndKey key);  // fills up the requests open on a connection
  void ask_all(RivalPeer& peer);
  // A block has come: it is not asked for on this connection any more.
  void answered(RivalEndKey key, BlockId id);
  // It has come, or is of no use any more: no other neighbour need send it. Whether any request was
  // open.
  bool cancel(RivalPeer& peer, BlockId id);
  bool cancel_group(RivalPeer& peer, std::uint32_t group);
  // The connection of `peer` has closed: what no other neighbour was asked for is wanted again.
  void closed(RivalPeer& peer, RivalEndKey key);

  // --- senders ---
  // A request has arrived at the sender's end.
  void arrived(RivalEndKey key, BlockId id);
  std::optional<Choice> next(RivalPeer& sender);
  bool pushes(const RivalPeer& peer) const { return peer.spec.source && senders_.source_chooses(); }

 private:
  struct End {
    std::vector<BlockId> asked;   // by this peer of the other, and not here yet
    std::deque<BlockId> to_send;  // what the other has asked for; its request has arrived
    double pushed = 0;            // by a source, in blocks over the receiver's uplink
    bool in_turns = false;        // of its peer's uplink
  };
  struct Turns {
    std::deque<RivalEndKey> asked;  // connections with something asked for, the next one first
    std::size_t next = 0;           // without pipeline: where in the peer's ends to look first
  };
  std::optional<BlockId> choose(const RivalPeer& to, const RivalPeer& from,
                                std::size_t open_requests);
  std::optional<BlockId> twice(const RivalPeer& to, const RivalPeer& from);
  std::optional<Choice> asked_first(RivalPeer& sender);
  std::optional<Choice> rarest_for_any(RivalPeer& sender);
  std::optional<Choice> chosen_by_source(RivalPeer& source);
  // `sender` has chosen a block without having been asked.
  Choice granted(RivalEndKey key, BlockId id);
  End& end(RivalEndKey key);
  Turns& turns(const RivalPeer& peer);

  const RivalRules& rules_;
  const std::vector<std::uint32_t>& group_of_;
  const std::uint32_t request_kind_;
  RivalMesh& mesh_;
  TimeQueue& queue_;
  codec::CoefficientStream& random_;
  RivalSenders& senders_;
  std::deque<End> ends_;
  std::deque<Turns> turns_;  // by peer
};

}  // namespace firn::sim
