// A tracker under virtual time: the announce core with a registry in memory, behind the admission
// of connections, on a machine that takes its time. What is modelled, not run:
//
//   - connections wait in the kernel's queue of 512, from which the listener takes all, or 2 in
//     100 ms while the loop is behind by 50 ms (listener.cc);
//   - a handshake lasts 200 ms and costs the loop `handshake_us`, a request `request_us`; what is
//     not done in a step is the lag of the next. Behind by 100 ms the core sheds early announces;
//     by 250 ms, TCP holds back those that would ask more;
//   - a handshake has 10 s, an open connection may be silent for 150 s.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>

#include "proto/transport/admission.h"
#include "tracker/announce_core.h"
#include "tracker/registry_memory.h"

namespace firn::tracker::test::abuse {

struct HostOptions {
  CoreOptions core;
  RegistryLimits limits;
  std::size_t places = 4096;
  std::int64_t request_us = 150;  // a small machine: 6,600 requests a second
  std::int64_t handshake_us = 1500;
};

class Host {
 public:
  static constexpr Time kStep{100};
  using Link = std::uint64_t;  // a connection; never used again
  static constexpr Link kNone = 0;
  enum class State { kWaiting, kOpen, kClosed };

  Host(const HostOptions& options, std::uint64_t seed);
  ~Host();

  // A call of the peer `id` from `ip`; one that is silent never ends its handshake. kNone: the
  // kernel's queue is full.
  Link call(const PeerId& id, const std::string& ip, bool silent = false);
  State state(Link link) const;
  void hang_up(Link link);
  // On an open connection. nullopt: it is held back, as the loop is behind; a `patient` caller is
  // answered all the same, later.
  std::optional<proto::TrackerReply> ask(Link link, const proto::TrackerRequest& request,
                                         bool patient = false);
  // The next step's time has come.
  void step();

  Time now() const { return now_; }
  const Registry& registry() const { return registry_; }
  struct Fill {
    std::size_t connections = 0, clients = 0;  // clients: those that the core knows
    std::size_t swarms = 0, peers = 0, largest_swarm = 0;
    std::size_t manifests = 0;
    std::uint64_t manifest_bytes = 0;
    AnnounceCore::Fill core;
  };
  // Takes time in proportion to the swarms.
  Fill fill();
  // Where a table is fuller than it may be, which; else empty.
  std::string overfull(const Fill& has) const;
  bool strained() const { return lag_us_ >= 100'000; }

 private:
  struct Connection {
    PeerId id;
    std::string ip;
    bool silent = false;
    bool open = false;
    Time heard{};  // at last
    std::optional<proto::transport::Admission::Place> place;
  };
  using Due = std::deque<std::pair<Time, Link>>;  // in order of time

  void accept_some();
  bool accept(Link link);
  void open(Link link);
  void look_for_silent();
  std::uint64_t ms() const { return static_cast<std::uint64_t>(now_.count()); }

  const HostOptions options_;
  MemoryRegistry registry_;
  AnnounceCore core_;
  proto::transport::Admission admission_;
  std::unordered_map<Link, Connection> connections_;
  std::deque<Link> queue_;  // of the kernel
  Due opening_, to_be_looked_at_;
  std::size_t held_ = 0;  // places
  Link last_ = kNone;
  Time now_{1'000'000};
  std::int64_t lag_us_ = 0;
};

}  // namespace firn::tracker::test::abuse
