// One peer of a simulated network: the production core, a disk (disk.h) and an uplink (uplink.h).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "client/core/swarm.h"
#include "tests/hostile/saboteur.h"
#include "tests/sim/checker.h"
#include "tests/sim/disk.h"
#include "tests/sim/peer_spec.h"
#include "tests/sim/uplink.h"
#include "tests/staged_manifests.h"

namespace firn::sim {

class Network;

class Peer {
 public:
  Peer(Network& network, std::size_t index, const PeerSpec& spec);

  void start();
  void stop_dead();
  bool alive() const { return core_ != nullptr; }
  bool crashed() const { return life_ > 1 && !core_; }
  bool complete() const { return disk.full(); }
  bool finished() const { return finished_; }
  bool working() const;  // alive, and neither frozen nor waiting for its disk
  bool answers_calls() const;
  core::Report report() const { return core_->report(); }
  core::SwarmCore& core() { return *core_; }
  Checker& checker() { return *checker_; }
  Uplink& uplink() { return uplink_; }
  const PeerSpec& spec() const { return spec_; }
  std::size_t index() const { return index_; }
  const PeerId& id() const { return id_; }

  // Its clock goes ahead of the network's by `ahead` more, as of a host that slept: timers fire,
  // and nothing was done meanwhile. Clocks of the core never go back.
  void jump_clock(TimeUs ahead);
  // Its user reads these generations now, and no others any more.
  void read(core::Urgent urgent);
  // It handles nothing for so long (stopped, or swapped out), then all that has come meanwhile.
  void freeze(TimeUs how_long);

  // --- for the network, the disk and the uplink ---
  TimeUs now();  // by its own clock, to be told to the core
  void hear(core::PeerKey key, proto::PeerMessage message, std::size_t bytes);
  void lost(core::PeerKey key);  // the connection is gone
  void act();                    // drains the core's actions, arms the timer
  void fetched(std::uint32_t generation, bool verified);  // from the origin
  // Runs `what` later unless the peer has crashed or finished meanwhile.
  void later(TimeUs delay, std::function<void()> what);
  // As later, also once it has finished: what was sent before still goes out.
  void later_in_life(TimeUs delay, std::function<void()> what);

  Disk disk;
  TimeUs completed_at = -1;
  std::vector<std::string> warnings;
  std::uint32_t asked_of_origin = 0;  // generations
  std::vector<PeerId> ids;            // a new one at each start, the last is id()

 private:
  // What one action asks for; `on` where that takes more than a line.
  void perform(core::Action&& action);
  void on(core::SendBlock& action);
  void on(const core::FetchManifestFrom& action);
  void on(const core::FetchFromOrigin& action);
  void on(const core::ManifestArrived& action);
  void on(const core::ContentComplete& action);
  void make_proof(const std::variant<core::MakeCheck, core::MakeLeaves>& wanted);
  TimeUs clock() const;  // its own
  void corrupt();
  void begin();  // gives the core its shape and what the disk holds
  void arm();    // the timer

  Network& network_;
  const std::size_t index_;
  PeerSpec spec_;
  PeerId id_;
  std::uint64_t life_ = 0;  // counts starts, so that events of an earlier life are void
  std::unique_ptr<core::SwarmCore> core_;
  std::unique_ptr<hostile::Saboteur> saboteur_;  // of one that spoils the swarm
  TimeUs armed_ = kNever;
  bool acting_ = false;
  bool finished_ = false;
  TimeUs clock_ahead_ = 0;
  TimeUs told_ = 0;  // the last time that the core was told
  TimeUs thaws_ = 0;
  std::deque<std::function<void()>> waiting_;  // until then
  test::StagedManifests staged_;
  std::unique_ptr<Checker> checker_;
  Uplink uplink_;
};

}  // namespace firn::sim
