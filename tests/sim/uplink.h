// A simulated peer's uplink: one frame at a time, its connections in turn.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "client/core/base/types.h"
#include "proto/messages.h"

namespace firn::sim {

class Network;
class Peer;

class Uplink {
 public:
  struct Frame {
    proto::PeerMessage message;
    std::size_t bytes = 0;
    bool block = false;
  };

  // Both outlive the uplink.
  Uplink(Peer& peer, Network& network) : peer_(peer), network_(network) {}

  void open(core::PeerKey key) { queues_[key]; }
  // A frame for a connection that has gone is dropped.
  void enqueue(core::PeerKey key, Frame frame);
  // This peer closes the connection: what is queued still goes out.
  void close(core::PeerKey key);
  // The connection is gone, and what was queued with it.
  void lost(core::PeerKey key);
  void crashed();
  std::uint64_t blocks_departed() const { return blocks_departed_; }

 private:
  void transmit();
  void departed(core::PeerKey key);

  Peer& peer_;
  Network& network_;
  std::map<core::PeerKey, std::deque<Frame>> queues_;
  core::PeerKey last_served_ = 0;
  std::vector<core::PeerKey> closing_;
  bool transmitting_ = false;
  std::uint64_t blocks_departed_ = 0;
};

}  // namespace firn::sim
