// The swarm core of a peer that has everything, and receivers that take its blocks at their own
// pace, in virtual time.
#pragma once

#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "client/core/swarm.h"
#include "client/core/view/report.h"

namespace firn::load {

struct Diet {
  double blocks_a_second = 24;  // of each receiver
  std::uint32_t window = 8;     // blocks granted at a time, half of it anew
  std::uint32_t generation_size = 128, block_bytes = 4096;
  std::uint32_t generations = 512;
  bool finished_download = false;  // the sender is no source, but a relay that has everything
};

class DecisionCrowd {
 public:
  // Virtual time between two turns of the driver.
  static constexpr core::TimeUs kTurn = core::kMillisecond;

  DecisionCrowd(std::size_t receivers, const Diet& diet);

  // All connect, and say what they take.
  void join();
  // Nobody takes anything more.
  void rest() { resting_ = true; }
  // Time goes on: what the core is to be told in the next turn.
  void prepare();
  // The core is told, and decides.
  void turn();

  std::uint64_t blocks() const { return blocks_; }
  std::uint64_t steps() const { return steps_; }
  std::uint64_t walks() const { return core_.counters().walks; }

 private:
  struct Receiver {
    std::uint32_t sent = 0, arrived = 0, credit = 0;
    std::uint32_t rank = 0, generation = 0;  // of the one under way
    std::vector<std::uint32_t> queue;        // generations of blocks on their way
    std::vector<std::uint32_t> ranks;
    std::vector<std::uint32_t> touched;  // since its last State
  };
  proto::State state_of(Receiver& r) const;
  void take_block(core::PeerKey peer);
  void perform();

  Diet diet_;
  core::TimeUs now_ = core::kSecond;
  Manifest manifest_;
  core::SwarmCore core_;
  std::vector<Receiver> receivers_;  // of peer 1 on
  // When each takes its next block.
  using Due = std::pair<core::TimeUs, core::PeerKey>;
  std::priority_queue<Due, std::vector<Due>, std::greater<>> due_;
  std::vector<core::PeerKey> departed_;
  std::vector<std::pair<core::PeerKey, proto::PeerMessage>> said_;
  std::uint64_t blocks_ = 0, steps_ = 0;
  bool resting_ = false;
};

}  // namespace firn::load
