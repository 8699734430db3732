// Whole swarms for measuring policies: the production core, up to tens of thousands of peers, in
// virtual time. Where tests/sim/network.h checks every byte, this one carries coefficients alone:
// all payloads are one and the same buffer, decoding is taken to succeed, and the disk is as fast
// as memory. What is left is what decides how long a swarm takes: which peer sends
// a row of which generation to which peer, when, and over which link.
// Links are those of links.h.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "client/core/swarm.h"
#include "codec/random.h"
#include "proto/base/digest.h"
#include "proto/base/signature.h"
#include "proto/content/manifest.h"
#include "tests/hostile/saboteur.h"
#include "tests/sim/action_trace.h"
#include "tests/sim/addresses.h"
#include "tests/sim/lab/delivered.h"
#include "tests/sim/lab/lab_store.h"
#include "tests/sim/lab/links.h"
#include "tests/sim/lab/lookahead_queue.h"
#include "tests/sim/lab/run.h"
#include "tests/sim/lab/tracker.h"
#include "tests/sim/lab/viewer.h"
#include "tests/sim/lab/web_server.h"

namespace firn::sim {

class Lab final : private LinkUser {
 public:
  // A content of `generations` of n blocks of k bytes; the source leaves after it has sent
  // `source_copies` of it (0: stays).
  Lab(std::uint32_t generations, std::uint32_t n, std::uint32_t k, std::uint64_t seed,
      Authority authority = Authority::kThere);

  std::size_t add(const LabPeerSpec& spec);
  void set_wire(const LabWire& wire) { links_.set_wire(wire); }
  // The core's options that a sweep varies.
  core::Options& options() { return options_; }
  // `honest_copies`: it leaves once it has brought so many to honest peers, and these hold true
  // rows of full rank between them (0: stays).
  void set_source_copies(double copies, double honest_copies) {
    source_copies_ = copies;
    honest_copies_ = honest_copies;
  }
  // The tracker answers from then until then.
  void set_tracker(TimeUs from, TimeUs until) { tracker_.set_hours(from, until); }

  // Until every peer that has not gone is complete, or `until`. True if complete. May be called
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
  struct Peer {
    std::uint32_t index = 0;
    LabPeerSpec spec;
    PeerId id;
    std::string ip() const { return spec.ip.empty() ? address_of(index) : spec.ip; }
    void take_name(codec::CoefficientStream& random) {
      std::array<std::uint8_t, kSigningKeyBytes> secret;
      random.fill(secret);
      id = peer_id_of(*PublicKey::from_bytes(*public_key_of(secret)));
    }
    std::unique_ptr<core::SwarmCore> core;  // none before it joins and after a crash
    TimeUs armed = kNever;
    bool acting = false;
    LabStore store;
    std::optional<Viewer> viewer;
    core::Urgent urgent;                          // as the core was told
    std::unique_ptr<hostile::Saboteur> saboteur;  // of a hostile one
    std::optional<WebServer> web;                 // of an origin
    TimeUs gone_until = 0;                        // likewise
    std::deque<core::FetchFromOrigin> asking;     // on its way to the origin
    LabPeerResult result;                         // but for its traffic, which its links know
  };

  void message_came(std::uint32_t peer, core::PeerKey key, proto::PeerMessage&& message,
                    std::size_t bytes) override;
  void block_left(std::uint32_t peer, core::PeerKey key, std::size_t bytes) override;
  void uplink_went_on(std::uint32_t peer) override;
  void connection_closed(std::uint32_t peer, core::PeerKey key) override;

  void handle(const LabEvent& event);
  void start(Peer& peer);
  // A flag for each generation that has bytes of the part.
  std::vector<bool> generations_of(const LabPart& part) const;
  void die(Peer& peer, bool crash);
  void act(Peer& peer);
  void perform(Peer& peer, core::Action&& action);
  void call(Peer& caller, const core::Connect& action);
  void called(Peer& callee, std::uint64_t attempt, std::uint32_t from);
  void connected(Peer& caller, std::uint64_t attempt, core::PeerKey key);
  void connect_failed(Peer& caller, std::uint64_t attempt);
  void announced(Peer& asker, std::uint64_t wanted);
  void decoded(Peer& peer, std::uint32_t generation);
  void watch_on(Peer& peer);
  void fetched(Peer& peer, std::uint32_t generation, bool came);
  void handle_origin(Peer& origin, const LabEvent& event);
  // An event of that peer, as far from the origin as it is.
  void from_origin(const Peer& origin, std::uint32_t kind, std::uint32_t peer, std::uint64_t value);
  void take_sample();
  void post(TimeUs delay, std::uint32_t kind, const Peer& peer, std::uint64_t value);

  const Authority authority_;
  Shape shape_;
  Manifest manifest_;
  std::uint64_t blocks_in_content_ = 0;
  ActionTrace trace_;
  codec::CoefficientStream random_;
  core::Options options_;
  proto::Payload payload_;        // of every block
  proto::Payload false_payload_;  // but of those made of false ones
  Digest leaf_;                   // of the first
  LookaheadQueue queue_;
  Links links_;
  LabTracker tracker_;
  TimeUs shortest_delay_ = kNever;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::size_t left_ = 0;  // peers that are still to complete
  Peer* origin_ = nullptr;
  double source_copies_ = 0, honest_copies_ = 0;
  Delivered delivered_;
  TimeUs source_left_ = -1;
  TimeUs sample_interval_ = 0;
  std::vector<Sample> samples_;
};

}  // namespace firn::sim
