// A simulated network of peers with serial uplinks. Each peer sends one frame at a time, its
// connections in turn, at its uplink's rate; a frame arrives `delay` after its last byte has left,
// later if the receiver's downlink is busy. The peers run the production swarm core.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/core/swarm.h"
#include "tests/sim/action_trace.h"
#include "tests/sim/checker.h"
#include "tests/sim/content.h"
#include "tests/sim/event_queue.h"

namespace firn::sim {

struct LinkSpeed {
  double up = 1e6;        // bytes a second
  double down = 0;        // 0: no limit
  TimeUs delay = 20'000;  // one way, half of it for each end
};

// What survives a crash: verified generations, and rows in slots.
struct Disk {
  std::map<std::uint32_t, std::vector<std::uint8_t>> verified;
  struct Row {
    std::vector<std::uint8_t> vector;
    std::vector<std::uint8_t> payload;
    PeerId sender;
  };
  std::map<std::pair<std::uint32_t, std::uint32_t>, Row> rows;  // by generation and slot
};

// All peers share one address; their port is their index plus one.
inline constexpr const char* kAddress = "127.0.0.1";

class Peer;
class Progress;

class Network {
 public:
  Network(const Content& content, std::uint64_t seed);
  ~Network();

  struct PeerSpec {
    LinkSpeed link = {};
    bool source = false;  // has everything from the start
    bool listens = true;
    bool tracker = true;
    double pollutes = 0;                  // share of sent blocks whose payload is falsified
    bool lies = false;                    // claims to have everything, sends noise
    bool repeats = false;                 // sends one block of each generation again and again
    bool silent = false;                  // takes all that is granted and sends no block
    bool deaf = false;                    // reads nothing once it is connected
    std::vector<std::size_t> knows = {};  // peers given by hand
    core::SeedPolicy seeding = {core::SeedPolicy::Kind::kForever, 0, 0};
    bool dense = false;
    bool link_only = false;      // begins without the manifest
    TimeUs joins = 0;            // when it starts
    TimeUs worker_delay = 0;     // making a block takes so long; States overtake it
    double decode_fails = 0;     // share of decodes whose rows cannot be read back
    std::uint64_t up_limit = 0;  // as Options
    std::uint64_t down_limit = 0;
    std::uint64_t memory_bytes = 128u << 20;
    // One of those that spoil the swarm: it need not complete, and is not checked.
    bool hostile() const { return lies || repeats || silent || deaf || pollutes > 0; }
  };
  std::size_t add(const PeerSpec& spec);
  // Ends a peer without warning; its disk stays.
  void crash(std::size_t peer);
  // Starts it again with a new identity and the disk it had.
  void restart(std::size_t peer);
  // Cuts one random connection, if there is one.
  void cut_some_connection();
  void set_tracker_up(bool up) { tracker_up_ = up; }
  void set_tracker_has_manifest(bool has) { tracker_has_manifest_ = has; }
  // Looks every second whether anybody stands still although those it can reach have what it lacks
  // (progress.h); a broken rule like any other.
  void watch_progress();
  // Rules broken so far by any honest peer, each once.
  const std::map<std::string, std::string>& violations() const { return violations_; }

  EventQueue& events() { return events_; }
  Peer& peer(std::size_t index) { return *peers_[index]; }
  std::size_t size() const { return peers_.size(); }
  const Content& content() const { return content_; }
  codec::CoefficientStream& random() { return random_; }
  double pipe_overhead() const { return 1.05; }  // TCP, TLS

  // All honest peers that have not crashed have everything.
  bool all_complete() const;

 private:
  friend class Peer;
  friend class Progress;
  struct Connection {
    std::size_t a = 0, b = 0;
    core::PeerKey key_a = 0, key_b = 0;
    bool closing = false;  // one side has closed it; what it sent before still arrives
  };
  void connect(std::size_t from, std::uint64_t attempt, const Address& address);
  void deliver(std::size_t to, core::PeerKey key, proto::PeerMessage message, std::size_t bytes);
  void close(std::size_t from, core::PeerKey key);
  // Whether the other end of `from`'s connection takes anything.
  bool reads(std::size_t from, core::PeerKey key) const;
  void announce(std::size_t from, std::size_t tracker, const proto::Announce& announce);

  const Content& content_;
  ActionTrace trace_;
  EventQueue events_;
  codec::CoefficientStream random_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::map<core::PeerKey, Connection> connections_;  // by the key of end a; ends are key, key + 1
  core::PeerKey next_key_ = 2;
  // When `bytes` sent now reach a peer.
  TimeUs arrival(std::size_t from, std::size_t to, std::size_t bytes);
  void note(std::size_t peer, const std::string& rule);

  std::unique_ptr<Progress> progress_;
  bool tracker_up_ = true;
  bool tracker_has_manifest_ = false;
  std::map<std::string, std::string> violations_;         // to where it was seen first
  std::map<std::size_t, proto::PeerEndpoint> announced_;  // by peer index
};

// One peer: the production core, a disk, and the queues of its uplink.
class Peer {
 public:
  Peer(Network& network, std::size_t index, const Network::PeerSpec& spec);

  void start();
  void stop_dead();
  bool alive() const { return core_ != nullptr; }
  bool crashed() const { return life_ > 1 && !core_; }
  bool complete() const { return disk.verified.size() == generation_count(); }
  bool finished() const { return finished_; }
  core::Report report() const { return core_->report(); }
  core::SwarmCore& core() { return *core_; }
  const Network::PeerSpec& spec() const { return spec_; }
  const PeerId& id() const { return id_; }

  Disk disk;
  TimeUs completed_at = -1;
  std::uint64_t blocks_departed = 0;
  std::vector<std::string> warnings;
  // The disk takes nothing until it is resumed.
  void pause_disk();
  void resume_disk();
  // Its clock goes ahead of everybody's by so much more, as of a host that slept: timers fire, and
  // nothing was done meanwhile. Clocks of the core never go back.
  void jump_clock(TimeUs ahead);
  // It handles nothing for so long (stopped, or swapped out), then all that has come meanwhile.
  void freeze(TimeUs how_long);
  bool working() const;  // alive, and neither frozen nor waiting for its disk
  const Checker& checker() const { return *checker_; }

 private:
  friend class Network;
  struct Frame {
    proto::PeerMessage message;
    std::size_t bytes = 0;
    bool block = false;
  };

  TimeUs clock() const;  // its own
  TimeUs now();          // the same, to be told to the core
  std::uint32_t generation_count() const;
  void hear(core::PeerKey key, proto::PeerMessage message, std::size_t bytes);
  void lost(core::PeerKey key);  // the connection is gone
  void act();                    // drains the core's actions, arms the timer
  void perform(core::Action&& action);
  void on(core::Connect& action);
  void on(core::Close& action);
  void on(core::Send& action);
  void on(core::SendBlock& action);
  void on(core::StoreRow& action);
  void on(core::Decode& action);
  void on(core::DropRows& action);
  void on(core::KeepEvidence& action);
  void on(core::CheckEvidence& action);
  void on(core::AnnounceTo& action);
  void on(core::FetchManifestFrom& action);
  void on(core::ManifestArrived& action);
  void on(core::ContentComplete& action);
  void on(core::Finished& action);
  void on(core::Notice& action);
  proto::Payload payload_of(const core::SendBlock& action);
  void begin();  // gives the core its shape and what the disk holds
  void falsify(proto::Block& block);
  void row_stored();
  void decode(const core::Decode& action);
  void enqueue(core::PeerKey key, Frame frame);
  void transmit();
  // Runs `what` later unless the peer has crashed or finished meanwhile.
  void later(TimeUs delay, std::function<void()> what);
  // As later, also once it has finished: what was sent before still goes out.
  void later_in_life(TimeUs delay, std::function<void()> what);

  Network& network_;
  const std::size_t index_;
  Network::PeerSpec spec_;
  PeerId id_;
  std::uint64_t life_ = 0;  // counts starts, so that events of an earlier life are void
  std::unique_ptr<core::SwarmCore> core_;
  TimeUs armed_ = kNever;
  bool acting_ = false;
  bool finished_ = false;
  bool disk_paused_ = false;
  TimeUs clock_ahead_ = 0;
  TimeUs told_ = 0;  // the last time that the core was told
  TimeUs thaws_ = 0;
  std::vector<std::function<void()>> disk_work_;  // what waits for it
  std::unique_ptr<Checker> checker_;
  std::map<core::PeerKey, std::deque<Frame>> queues_;
  core::PeerKey last_served_ = 0;
  std::vector<core::PeerKey> closing_;
  bool transmitting_ = false;
  TimeUs downlink_free_ = 0;
  struct Evidence {
    std::vector<core::Vector> vectors;
    std::vector<PeerId> senders;
    std::map<std::uint32_t, std::vector<std::uint8_t>> payloads;
  };
  std::map<std::uint32_t, Evidence> evidence_;
};

}  // namespace firn::sim
