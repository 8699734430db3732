// A simulated network of peers with serial uplinks. Each peer sends one frame at a time, its
// connections in turn, at its uplink's rate; a frame arrives `delay` after its last byte has left,
// later if the receiver's downlink is busy. The peers run the production swarm core.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "client/core/swarm.h"
#include "tests/sim/action_trace.h"
#include "tests/sim/addresses.h"
#include "tests/sim/checker.h"
#include "tests/sim/content.h"
#include "tests/sim/event_queue.h"
#include "tests/sim/peer.h"
#include "tests/sim/peer_spec.h"

namespace firn::sim {

class Progress;

class Network {
 public:
  Network(const Content& content, std::uint64_t seed);
  ~Network();

  using PeerSpec = sim::PeerSpec;
  std::size_t add(const PeerSpec& spec);
  // Ends a peer without warning; its disk stays.
  void crash(std::size_t peer);
  // Starts it again with a new identity and the disk it had.
  void restart(std::size_t peer);
  // Cuts one random connection, if there is one.
  void cut_some_connection();
  void set_tracker_up(bool up) { tracker_up_ = up; }
  void set_tracker_has_manifest(bool has) { tracker_has_manifest_ = has; }
  // Looks every second whether a peer stands still although those it can reach have what it lacks
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

  // --- for its peers ---
  void connect(std::size_t from, std::uint64_t attempt, const Address& address);
  void deliver(std::size_t to, core::PeerKey key, proto::PeerMessage message, std::size_t bytes);
  void close(std::size_t from, core::PeerKey key);
  // Whether the other end of `from`'s connection takes anything.
  bool reads(std::size_t from, core::PeerKey key) const;
  void announce(std::size_t from, std::size_t tracker, const proto::Announce& announce);
  bool tracker_hosts_manifest() const { return tracker_up_ && tracker_has_manifest_; }
  void note(std::size_t peer, const std::string& rule);
  void trace(std::size_t peer, const std::vector<core::Action>& actions) {
    trace_.step(events_.now(), peer, actions);
  }

 private:
  friend class Progress;
  struct Connection {
    std::size_t a = 0, b = 0;
    core::PeerKey key_a = 0, key_b = 0;
    bool closing = false;  // one side has closed it; what it sent before still arrives
  };
  // When `bytes` sent now reach a peer.
  TimeUs arrival(std::size_t from, std::size_t to, std::size_t bytes);

  const Content& content_;
  ActionTrace trace_;
  EventQueue events_;
  codec::CoefficientStream random_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::map<core::PeerKey, Connection> connections_;  // by the key of end a; ends are key, key + 1
  core::PeerKey next_key_ = 2;
  std::vector<TimeUs> downlinks_free_;  // by peer index

  std::unique_ptr<Progress> progress_;
  bool tracker_up_ = true;
  bool tracker_has_manifest_ = false;
  std::map<std::string, std::string> violations_;         // to where it was seen first
  std::map<std::size_t, proto::PeerEndpoint> announced_;  // by peer index
};

}  // namespace firn::sim
