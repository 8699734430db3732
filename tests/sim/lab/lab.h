// Whole swarms for measuring policies: the production core, up to tens of thousands of peers, in
// virtual time. Where tests/sim/network.h checks every byte, this one carries coefficients alone:
// all payloads are one and the same buffer, decoding is taken to succeed, and the disk is as fast
// as memory. What is left is what decides how long a swarm takes: which peer sends
// a row of which generation to which peer, when, and over which link.
//
// A link: a peer's uplink sends one frame at a time, its connections in turn; a frame arrives half
// of both ends' delays after its last byte has left. A downlink with a limit is that of downlink.h.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "client/core/swarm.h"
#include "codec/random.h"
#include "proto/content/manifest.h"
#include "tests/sim/action_trace.h"
#include "tests/sim/lab/downlink.h"
#include "tests/sim/lab/run.h"
#include "tests/sim/lab/window_queue.h"

namespace firn::sim {

class Lab {
 public:
  // A content of `generations` of n blocks of k bytes; the source leaves after it has sent
  // `source_copies` of it (0: stays).
  Lab(std::uint32_t generations, std::uint32_t n, std::uint32_t k, std::uint64_t seed);
  ~Lab();

  std::size_t add(const LabPeerSpec& spec);
  void set_wire(const LabWire& wire) { wire_ = wire; }
  // The core's options that a sweep varies.
  core::Options& options() { return options_; }
  void set_source_copies(double copies) { source_copies_ = copies; }
  // The tracker answers from then until then.
  void set_tracker(TimeUs from, TimeUs until) {
    tracker_from_ = from;
    tracker_until_ = until;
  }

  // Until everybody that has not gone is complete, or `until`. True if complete. May be called
  // again to go on.
  bool run(TimeUs until);

  std::size_t size() const { return peers_.size(); }
  const LabPeerSpec& spec(std::size_t peer) const;
  LabPeerResult result(std::size_t peer) const;
  core::Report report(std::size_t peer) const;  // of a peer that has started and not gone
  TimeUs now() const { return queue_.now(); }
  std::uint64_t events() const { return queue_.taken(); }
  std::uint64_t blocks_in_content() const { return blocks_in_content_; }
  double content_bytes() const;
  TimeUs source_left() const { return source_left_; }

  // Mean share of the content's rank that peers in the swarm hold, sampled every interval.
  struct Sample {
    double seconds = 0;
    double mean = 0;
    double least = 0;
  };
  void sample_every(TimeUs interval) { sample_interval_ = interval; }
  const std::vector<Sample>& samples() const { return samples_; }

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
  struct Peer;

  void start(Peer& peer);
  void die(Peer& peer, bool crash);
  void act(Peer& peer);
  void perform(Peer& peer, core::Action&& action);
  void enqueue(Peer& peer, core::PeerKey key, proto::PeerMessage&& message);
  void release_queued(End& end);
  void take_turn(Peer& peer, core::PeerKey key);
  void transmit(Peer& peer);
  void departed(Peer& peer, core::PeerKey key);
  void delivered(Slot slot);
  void burst_came(Peer& peer, Slot slot, std::uint32_t bytes);
  void burst_through(Slot slot, std::uint32_t bytes);
  void acknowledged(Peer& peer, core::PeerKey key, std::uint32_t bytes);
  void lost(Peer& peer, Slot slot, std::uint32_t bytes);
  void close_if_done(core::PeerKey key);
  void other_end_closed(core::PeerKey key);
  void close(core::PeerKey key);
  void release(Slot slot);
  void called(Peer& callee, std::uint64_t attempt, std::uint32_t from);
  void connected(Peer& caller, std::uint64_t attempt, core::PeerKey key);
  void connect_failed(Peer& caller, std::uint64_t attempt);
  void announced(Peer& asker, std::uint64_t wanted);
  void handle(const LabEvent& event);
  void post(TimeUs delay, std::uint32_t kind, const Peer& peer, std::uint64_t value);
  End& end_of(core::PeerKey key) { return connections_[key / 2 - 1].ends[key & 1]; }
  TimeUs path_of(core::PeerKey key) const { return connections_[key / 2 - 1].path; }
  double wire_bytes(const Frame& frame) const;
  void completed(Peer& peer);
  void take_sample();

  Shape shape_;
  Manifest manifest_;
  std::uint64_t blocks_in_content_ = 0;
  ActionTrace trace_;
  codec::CoefficientStream random_;
  core::Options options_;
  LabWire wire_;
  proto::Payload payload_;  // of every block
  WindowQueue queue_;
  TimeUs shortest_delay_ = kNever;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::deque<Connection> connections_;
  std::deque<Frame> frames_;
  std::vector<Slot> free_frames_;
  std::vector<std::uint32_t> announced_;  // peers that listen, as the tracker knows them
  std::size_t left_ = 0;                  // peers that are still to complete
  double source_copies_ = 0;
  TimeUs tracker_from_ = 0, tracker_until_ = kNever;
  TimeUs source_left_ = -1;
  TimeUs sample_interval_ = 0;
  std::vector<Sample> samples_;
};

}  // namespace firn::sim
