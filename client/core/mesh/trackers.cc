#include "client/core/mesh/trackers.h"

#include <algorithm>
#include <utility>

#include "proto/base/address.h"
#include "proto/base/limits.h"

namespace firn::core {

constexpr TimeUs kAnnounceIntervalMin = 1 * kSecond;     // whatever a tracker says
constexpr TimeUs kAnnounceIntervalMax = 3600 * kSecond;  // or how long it wants to rest
// After a failure, doubling. Less: a tracker that comes back meets a crowd; more: it is found late.
constexpr TimeUs kAnnounceRetryFirst = 5 * kSecond;
constexpr TimeUs kAnnounceRetryMax = 300 * kSecond;
constexpr TimeUs kAnnounceLonely = 10 * kSecond;  // sooner while we have no neighbour
constexpr std::uint32_t kAnnouncePeers = 50;      // asked for. Half: +4 % at 40 peers [096]

using proto::AnnounceEvent;

Trackers::Trackers(const Context& context, const Life& life, Outbox& outbox)
    : context_(context), life_(life), outbox_(outbox), trackers_(context.options.trackers.size()) {
  for (Tracker& t : trackers_) t.due = context.now;
}

// --- announcing ---

TimeUs Trackers::due_at(const Tracker& t, bool lonely) {
  if (t.busy) return kNever;
  if (lonely && t.started && !t.failing) return std::min(t.due, t.last + kAnnounceLonely);
  return t.due;
}

TimeUs Trackers::next_due(bool lonely) const {
  TimeUs at = kNever;
  for (const Tracker& t : trackers_) at = std::min(at, due_at(t, lonely));
  return at;
}

void Trackers::announce(bool lonely, bool starves) {
  const std::uint32_t wanted = starves ? limits::kAnnouncePeersMax : kAnnouncePeers;
  for (std::size_t i = 0; i < trackers_.size(); ++i) {
    Tracker& t = trackers_[i];
    if (due_at(t, lonely) > context_.now) continue;
    t.busy = true;
    t.last = context_.now;
    const bool complete = std::exchange(t.tell_complete, false);
    send(i,
         !t.started ? AnnounceEvent::kStarted
         : complete ? AnnounceEvent::kCompleted
                    : AnnounceEvent::kPeriodic,
         wanted);
  }
}

void Trackers::send(std::size_t tracker, AnnounceEvent event, std::uint32_t peers_wanted) {
  proto::Announce announce;
  announce.content_id = context_.content_id;
  announce.event = event;
  announce.listen_port = context_.options.listen_port;
  announce.complete = life_.whole();
  announce.peers_wanted = peers_wanted;
  announce.signer = context_.signer;
  outbox_.push(AnnounceTo{tracker, announce});
}

void Trackers::completed() {
  for (Tracker& t : trackers_) {
    if (!t.started && !t.busy) continue;
    t.tell_complete = true;
    if (!t.failing) t.due = context_.now;
  }
}

void Trackers::stop() {
  for (std::size_t i = 0; i < trackers_.size(); ++i) {
    if (trackers_[i].started || trackers_[i].busy) send(i, AnnounceEvent::kStopped, 0);
  }
}

// --- what comes of it ---

void Trackers::replied(std::size_t tracker, const proto::AnnounceReply& reply) {
  Tracker& t = trackers_[tracker];
  t.busy = false;
  if (std::exchange(t.failing, false) && !life_.stopped())
    outbox_.inform("tracker " + to_text(context_.options.trackers[tracker]) + " works again");
  t.error.clear();
  t.started = true;
  t.failures = 0;
  t.swarm = reply.complete_count + reply.incomplete_count;
  t.due = context_.now;
  if (t.tell_complete) return;
  t.due += std::clamp(TimeUs{reply.interval_seconds} * kSecond, kAnnounceIntervalMin,
                      kAnnounceIntervalMax);
}

void Trackers::failed(std::size_t tracker, const Error& error, std::uint32_t retry_seconds) {
  Tracker& t = trackers_[tracker];
  std::string why = error.detail.empty() ? error.message() : error.detail;
  const bool known = std::exchange(t.failing, true) && t.error == why;
  t.busy = false;
  t.error = std::move(why);
  const TimeUs backoff =
      std::min(kAnnounceRetryFirst << std::min(t.failures, 10u), kAnnounceRetryMax);
  ++t.failures;
  t.due = context_.now + std::clamp(TimeUs{retry_seconds} * kSecond, backoff, kAnnounceIntervalMax);
  if (known || life_.stopped()) return;
  outbox_.warn("tracker " + to_text(context_.options.trackers[tracker]) + ": " + error.message() +
               "; trying again from time to time");
}

std::size_t Trackers::swarm_told() const {
  std::size_t most = 0;
  for (const Tracker& t : trackers_) most = std::max<std::size_t>(most, t.swarm);
  return most;
}

std::vector<TrackerStanding> Trackers::standings() const {
  using Kind = TrackerStanding::Kind;
  std::vector<TrackerStanding> standings;
  for (std::size_t i = 0; i < trackers_.size(); ++i) {
    const Tracker& t = trackers_[i];
    const Kind kind = t.failing ? Kind::kFailed : t.started ? Kind::kAnswered : Kind::kNoAnswerYet;
    standings.push_back({kind, context_.options.trackers[i], t.error,
                         kind == Kind::kAnswered ? t.swarm : 0, t.last});
  }
  return standings;
}

}  // namespace firn::core
