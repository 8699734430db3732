// Swarms that do not recode, on the links of lab.h, to measure recoding against: every peer keeps
// the blocks it received and passes them on as they are. Peers ask their neighbours for blocks,
// rarest first among what their neighbourhood holds (Legout, Urvoy-Keller, Michiardi 2006), as
// BitTorrent does. Where a rule is in doubt it is the one better for the rival:
//   - neighbours know at once, and at no cost, what a peer has got; requests cost no bytes, and
//     cancels take effect at once;
//   - a block is verified and can be passed on the moment it has arrived (16 KiB pieces, free);
//   - every peer that asks is served in turn; there is no choking, hence no slow start of
//   newcomers;
//   - peers know each other from the moment they join.
// A link is that of lab.h: an uplink sends one block at a time, connections in turn; a block
// arrives half of both ends' delays after its last byte has left, later if the downlink is busy.
//
// With `pipeline` w > 0 a peer keeps up to w requests open at each neighbour; they travel half of
// both delays. With 0 a block is chosen only when the sender's uplink is free for it, with what the
// receiver knows at that moment: better than any real protocol could be.
// Near the end (all that is missing has been requested) an idle connection may be asked for one
// block that is on its way from elsewhere too; the slower copies are cancelled.
//
// Derived classes say what the source does and what a block is worth.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "codec/random.h"
#include "tests/sim/lab/rivals/block_map.h"
#include "tests/sim/lab/rivals/rival_mesh.h"
#include "tests/sim/lab/rivals/rival_requests.h"
#include "tests/sim/lab/run.h"
#include "tests/sim/lab/time_queue.h"

namespace firn::sim {

// A block as an uplink began to send it.
struct Transfer {
  std::uint32_t from = 0, to = 0;
  std::uint64_t received = 0;  // blocks that `from` had received by then
  double bytes = 0;            // on the wire
};

class RivalSwarm : private RivalSenders {
 public:
  RivalSwarm(const RivalRules& rules, std::uint64_t seed);

  std::size_t add(const LabPeerSpec& spec);
  // Writes down every transfer, in order, from now on; `trace` outlives the run.
  void record(std::vector<Transfer>* trace) { trace_ = trace; }
  // Until every peer that has not gone is complete, or `until`. True if complete.
  bool run(TimeUs until);

  std::size_t size() const { return mesh_.size(); }
  const LabPeerSpec& spec(std::size_t peer) const;
  LabPeerResult result(std::size_t peer) const;
  double content_bytes() const {
    return static_cast<double>(blocks_in_content()) * rules_.block_bytes;
  }
  std::uint64_t blocks_in_content() const {
    return std::uint64_t{rules_.groups} * rules_.per_group;
  }
  TimeUs source_left() const { return source_left_; }
  TimeUs now() const { return queue_.now(); }
  std::uint64_t events() const { return queue_.taken(); }

 protected:
  bool source_chooses() const override { return false; }
  std::optional<BlockId> source_block(std::size_t to) override;
  // A block has arrived at `peer` that did not have it: whether it adds to what it has.
  virtual bool gains(std::size_t peer, BlockId id);
  virtual void got(std::size_t peer, BlockId id);  // after a block that adds something
  virtual void went(std::size_t peer);             // crashed or left

  const RivalRules& rules() const { return rules_; }
  const BlockMap& blocks_of(std::size_t peer) const;
  codec::CoefficientStream& random() { return random_; }
  BlockId new_block(std::uint32_t group);  // by the source
  std::size_t block_count() const { return group_of_.size(); }
  std::uint32_t group_of(BlockId id) const { return group_of_[id]; }

 private:
  enum Kind : std::uint32_t { kJoin, kMeet, kRequest, kDeparted, kArrived, kLeave };

  void handle(const LabEvent& event);
  void meet(RivalPeer& peer);
  void join(RivalPeer& a, RivalPeer& b);
  void die(RivalPeer& peer);
  void lose(RivalPeer& peer, RivalEndKey key);

  void transmit(RivalPeer& peer) override;
  void send(RivalPeer& peer, RivalEndKey key, BlockId id);
  void departed(RivalPeer& peer, RivalEndKey key, BlockId id);
  void arrived(RivalEndKey key, BlockId id);
  void tell(RivalPeer& peer, BlockId id);

  RivalRules rules_;
  codec::CoefficientStream random_;
  TimeQueue queue_;
  std::vector<std::uint32_t> group_of_;
  RivalMesh mesh_;
  RivalRequests requests_;
  std::vector<std::uint32_t> members_;  // peers in the swarm
  std::size_t left_ = 0;                // still to complete
  TimeUs source_left_ = -1;
  std::vector<Transfer>* trace_ = nullptr;
};

}  // namespace firn::sim
