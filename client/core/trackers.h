// The trackers of a content: announcing to them in time, and what they have answered.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "client/core/announcer.h"
#include "client/core/context.h"
#include "client/core/life.h"
#include "client/core/outbox.h"
#include "client/core/standstill.h"
#include "proto/base/result.h"
#include "proto/messages.h"

namespace firn::core {

class Trackers {
 public:
  Trackers(const Context& context, const Life& life, Outbox& outbox);

  // Announces what is due. `lonely`: this peer needs more of the swarm than it has found.
  // `starves`: it needs all addresses that it can get.
  void announce(bool lonely, bool starves);
  TimeUs next_due(bool lonely) const { return announcer_.next_due(lonely); }

  void replied(std::size_t tracker, const proto::AnnounceReply& reply);
  void failed(std::size_t tracker, const Error& error, std::uint32_t retry_seconds);
  // This peer has everything now: all trackers are told.
  void completed() { announcer_.completed(context_.now); }
  // Says goodbye.
  void stop();

  // The largest swarm that a tracker has told of; 0: none has.
  std::size_t swarm_told() const;
  std::vector<TrackerStanding> standings() const;

 private:
  void send(std::size_t tracker, proto::AnnounceEvent event, std::uint32_t peers_wanted);

  const Context& context_;
  const Life& life_;
  Outbox& outbox_;
  Announcer announcer_;
  std::map<std::size_t, std::uint32_t> swarms_;  // by tracker: peers that it told of
};

}  // namespace firn::core
