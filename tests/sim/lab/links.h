// Frames on their way between peers of a lab: uplinks, paths, downlinks, connections.
//
// A link: a peer's uplink sends one frame at a time, its connections in turn; a frame arrives half
// of both ends' delays after its last byte has left. A downlink with a limit is that of downlink.h.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <vector>

#include "client/core/base/types.h"
#include "proto/messages.h"
#include "tests/sim/lab/downlink.h"
#include "tests/sim/lab/lookahead_queue.h"
#include "tests/sim/lab/run.h"

namespace firn::sim {

// What links tell the peers at their ends.
class LinkUser {
 public:
  virtual ~LinkUser() = default;
  virtual void message_came(std::uint32_t peer, core::PeerKey key, proto::PeerMessage&& message,
                            std::size_t bytes) = 0;
  virtual void block_left(std::uint32_t peer, core::PeerKey key, std::size_t bytes) = 0;
  // A frame has left, and the next one, if there is any, is on the uplink.
  virtual void uplink_went_on(std::uint32_t peer) = 0;
  virtual void connection_closed(std::uint32_t peer, core::PeerKey key) = 0;
};

// The ends of a connection have the keys k and k + 1, k even.
class Links {
 public:
  // Both outlive the links. Events of links in the queue are given to `handle`.
  Links(LookaheadQueue& queue, LinkUser& user) : queue_(queue), user_(user) {}

  void set_wire(const LabWire& wire) { wire_ = wire; }
  // The next peer; peers are numbered from 0.
  void add(const LabLink& link);
  void handle(const LabEvent& event);

  TimeUs path_between(std::uint32_t a, std::uint32_t b) const;
  // The key of the caller's end.
  core::PeerKey connect(std::uint32_t caller, std::uint32_t callee);
  bool gone(core::PeerKey key) { return end_of(key).gone; }
  std::uint32_t peer_at(core::PeerKey key) { return end_of(key).peer; }
  void send(core::PeerKey key, proto::PeerMessage&& message);
  // Once what is queued has left.
  void close(core::PeerKey key);
  // The peer has crashed: the other ends of its connections see them break.
  void cut(std::uint32_t peer);
  // It is there again, without connections. At once: what its uplink was sending goes on till then.
  void rejoin(std::uint32_t peer) { stations_[peer].cut = false; }

  struct Traffic {
    double bytes = 0;    // on the wire
    double control = 0;  // of them: messages that are no blocks
    double busy_us = 0;  // the uplink was sending
    std::uint64_t blocks = 0;
  };
  const Traffic& sent(std::uint32_t peer) const { return stations_[peer].sent; }

 private:
  // A frame from the moment it is queued until it has arrived.
  struct Frame {
    proto::PeerMessage message;
    core::PeerKey from = 0;
    std::uint32_t bytes = 0;
    std::uint32_t unsent = 0;   // of its bytes on the wire; lost ones are unsent again
    std::uint32_t missing = 0;  // and those that are not through the downlink
    bool block = false;
    bool begun = false;     // to be sent
    bool told = false;      // the core knows that it has left
    bool arriving = false;  // at the other end
  };
  using Slot = std::uint32_t;  // of frames_
  struct End {
    std::uint32_t peer = 0;
    bool closing = false;        // closed by this peer once its queue is empty
    bool gone = false;           // this peer has nothing to do with it any more
    bool has_turn = false;       // it is among the peer's turns
    std::vector<Slot> queued;    // frames in order
    std::vector<Slot> arriving;  // frames in order, of which a part is missing or others wait for
    // Of what it sends, where the other end's downlink is limited.
    std::unique_ptr<CongestionWindow> window;
  };
  struct Connection {
    End ends[2];
    TimeUs path = 0;  // from one end to the other
  };
  // A peer's uplink and downlink.
  struct Station {
    std::uint32_t peer = 0;
    LabLink link;
    Downlink downlink;
    bool cut = false;
    bool transmitting = false;
    Slot sending = 0;                 // the frame, while transmitting
    std::uint32_t burst = 0;          // of it, where that is not all
    std::deque<core::PeerKey> turns;  // connections with queued frames, the next one first
    Traffic sent;
  };

  void release_queued(End& end);
  void release(Slot slot);
  void take_turn(core::PeerKey key);
  void transmit(Station& station);
  void departed(Station& station, core::PeerKey key);
  void sent_frame(Station& station, core::PeerKey key);
  void delivered(Slot slot);
  void burst_came(Station& station, Slot slot, std::uint32_t bytes);
  void burst_through(Slot slot, std::uint32_t bytes);
  void acknowledged(core::PeerKey key, std::uint32_t bytes);
  void lost(Slot slot, std::uint32_t bytes);
  void close_if_done(core::PeerKey key);
  void closed(core::PeerKey key);
  void other_end_closed(core::PeerKey key);
  void post(TimeUs delay, std::uint32_t kind, std::uint32_t peer, std::uint64_t value) {
    queue_.post({queue_.now() + delay, kind, peer, value});
  }
  End& end_of(core::PeerKey key) { return connections_[key / 2 - 1].ends[key & 1]; }
  // A caller that has crashed may still be given a connection.
  bool hears(const End& end) const { return !end.gone && !stations_[end.peer].cut; }
  TimeUs path_of(core::PeerKey key) const { return connections_[key / 2 - 1].path; }
  double wire_bytes(const Frame& frame, std::uint32_t sender) const;

  LookaheadQueue& queue_;
  LinkUser& user_;
  LabWire wire_;
  std::vector<Station> stations_;  // by peer
  std::deque<Connection> connections_;
  std::deque<Frame> frames_;
  std::vector<Slot> free_frames_;
};

}  // namespace firn::sim
