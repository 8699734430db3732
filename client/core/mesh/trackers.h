// Announces to the trackers of a content, and keeps what they answered. Each tracker has a schedule
// of its own; failures back off. A person is told of a failure when its reason is new, and when the
// tracker works again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/base/context.h"
#include "client/core/neighbour/outbox.h"
#include "client/core/view/standstill.h"
#include "proto/base/result.h"
#include "proto/messages.h"

namespace firn::core {

class Trackers {
 public:
  Trackers(const Context& context, const Life& life, Outbox& outbox);

  // Announces what is due; each counts as under way until it is replied or failed. `lonely`: this
  // peer needs more of the swarm than it has found, and asks sooner. `starves`: it needs all
  // addresses that it can get.
  void announce(bool lonely, bool starves);
  TimeUs next_due(bool lonely) const;

  void replied(std::size_t tracker, const proto::AnnounceReply& reply);
  void failed(std::size_t tracker, const Error& error, std::uint32_t retry_seconds);
  // This peer has everything now: all trackers are told.
  void completed();
  // Says goodbye to those that may know of this peer.
  void stop();

  // The largest swarm that a tracker has told of; 0: none has.
  std::size_t swarm_told() const;
  std::vector<TrackerStanding> standings() const;

 private:
  struct Tracker {
    bool started = false;  // it has answered a STARTED
    bool busy = false;
    bool failing = false;
    bool tell_complete = false;
    std::string error;  // while it is failing
    std::uint32_t failures = 0;
    std::uint32_t swarm = 0;  // peers that it told of last
    TimeUs due = 0;
    TimeUs last = 0;
  };
  static TimeUs due_at(const Tracker& tracker, bool lonely);
  void send(std::size_t tracker, proto::AnnounceEvent event, std::uint32_t peers_wanted);

  const Context& context_;
  const Life& life_;
  Outbox& outbox_;
  std::vector<Tracker> trackers_;
};

}  // namespace firn::core
