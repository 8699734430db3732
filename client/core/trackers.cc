#include "client/core/trackers.h"

#include <algorithm>
#include <string>

#include "client/core/policy/constants.h"
#include "proto/base/address.h"
#include "proto/base/limits.h"

namespace firn::core {

Trackers::Trackers(const Context& context, const Life& life, Outbox& outbox)
    : context_(context),
      life_(life),
      outbox_(outbox),
      announcer_(context.options.trackers.size(), context.now) {}

void Trackers::send(std::size_t tracker, proto::AnnounceEvent event, std::uint32_t peers_wanted) {
  proto::Announce announce;
  announce.content_id = context_.content_id;
  announce.event = event;
  announce.listen_port = context_.options.listen_port;
  announce.complete = life_.complete();
  announce.peers_wanted = peers_wanted;
  announce.signer = context_.signer;
  outbox_.push(AnnounceTo{tracker, announce});
}

void Trackers::announce(bool lonely, bool starves) {
  const std::uint32_t wanted = starves ? limits::kAnnouncePeersMax : policy::kAnnouncePeers;
  for (const Announcer::Due& due : announcer_.due(lonely, context_.now)) {
    send(due.tracker, due.event, wanted);
  }
}

void Trackers::replied(std::size_t tracker, const proto::AnnounceReply& reply) {
  announcer_.replied(tracker, reply.interval_seconds, context_.now);
  swarms_[tracker] = reply.complete_count + reply.incomplete_count;
}

void Trackers::failed(std::size_t tracker, const Error& error, std::uint32_t retry_seconds) {
  const std::string& why = error.detail.empty() ? error.message() : error.detail;
  if (!announcer_.failed(tracker, retry_seconds, context_.now, why) || life_.stopped()) return;
  outbox_.warn("tracker " + to_text(context_.options.trackers[tracker]) + ": " + error.message() +
               "; trying again from time to time");
}

void Trackers::stop() {
  for (const std::size_t tracker : announcer_.to_leave()) {
    send(tracker, proto::AnnounceEvent::kStopped, 0);
  }
}

std::size_t Trackers::swarm_told() const {
  std::size_t most = 0;
  for (const auto& [tracker, count] : swarms_) most = std::max<std::size_t>(most, count);
  return most;
}

std::vector<TrackerStanding> Trackers::standings() const {
  std::vector<TrackerStanding> standings;
  for (std::size_t i = 0; i < context_.options.trackers.size(); ++i) {
    const Announcer::Standing told = announcer_.standing(i);
    TrackerStanding& standing = standings.emplace_back();
    standing.address = context_.options.trackers[i];
    standing.since = told.since;
    if (!told.error.empty()) {
      standing.kind = TrackerStanding::Kind::kFailed;
      standing.error = told.error;
    } else if (told.answered) {
      standing.kind = TrackerStanding::Kind::kAnswered;
      const auto count = swarms_.find(i);
      standing.swarm = count == swarms_.end() ? 0 : count->second;
    }
  }
  return standings;
}

}  // namespace firn::core
