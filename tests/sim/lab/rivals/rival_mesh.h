// The peers of a rival swarm and the connections between them: what RivalSwarm (lives, arrivals)
// and RivalRequests (which block comes next) both look at.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "tests/sim/lab/rivals/block_map.h"
#include "tests/sim/lab/run.h"

namespace firn::sim {

struct RivalRules {
  std::uint32_t groups = 0;     // of blocks; see BlockMap
  std::uint32_t per_group = 1;  // blocks of a group that are needed
  double block_bytes = 16384;   // content in a block
  double frame_bytes = 16397;   // a block as it goes out: BitTorrent's piece message has 13 more
  double wire_share = 1.05;     // on the wire for each byte of a frame
  std::uint32_t pipeline = 0;
  std::uint32_t neighbours = 0;  // on average; 0: all up to 24 peers, 16 above
  double source_copies = 0;      // the source leaves after it has sent so many; 0: stays
};

using RivalEndKey = std::uint32_t;  // of a connection's two ends: key and key ^ 1

struct RivalEnd {
  std::uint32_t peer = 0;
  bool open = true;
};

struct RivalPeer {
  std::uint32_t index = 0;
  LabPeerSpec spec;
  BlockMap blocks;
  bool here = false;
  bool sending = false;
  TimeUs downlink_free = 0;
  std::uint64_t rows = 0;              // of groups that are not complete
  std::vector<RivalEndKey> ends = {};  // of its connections
  LabPeerResult result = {};
};

class RivalMesh {
 public:
  RivalPeer& peer(std::uint32_t index) { return *peers_[index]; }
  const RivalPeer& peer(std::size_t index) const { return *peers_[index]; }
  RivalPeer& owner(RivalEndKey key) { return *peers_[ends_[key].peer]; }
  const RivalPeer& owner(RivalEndKey key) const { return *peers_[ends_[key].peer]; }
  bool open(RivalEndKey key) const { return ends_[key].open; }
  std::size_t size() const { return peers_.size(); }

  RivalPeer& add(const LabPeerSpec& spec, BlockMap&& blocks) {
    const auto index = static_cast<std::uint32_t>(peers_.size());
    peers_.push_back(std::make_unique<RivalPeer>(RivalPeer{index, spec, std::move(blocks)}));
    return *peers_.back();
  }
  // The key of a's end; b has the next one.
  RivalEndKey join(RivalPeer& a, RivalPeer& b) {
    const auto key = static_cast<RivalEndKey>(ends_.size());
    ends_.push_back({a.index});
    ends_.push_back({b.index});
    a.ends.push_back(key);
    b.ends.push_back(key + 1);
    return key;
  }
  void close(RivalEndKey key) { ends_[key].open = false; }
  // The source has made blocks up to this many.
  void grow(std::size_t blocks) {
    for (const auto& peer : peers_) peer->blocks.grow(blocks);
  }

 private:
  std::vector<std::unique_ptr<RivalPeer>> peers_;
  std::deque<RivalEnd> ends_;
};

// An event's value that names an end and a block.
inline std::uint64_t pack(RivalEndKey key, BlockId id) {
  return std::uint64_t{key} << 32 | id;
}

}  // namespace firn::sim
