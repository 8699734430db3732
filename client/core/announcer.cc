#include "client/core/announcer.h"

#include <algorithm>

#include "client/core/policy/constants.h"

namespace firn::core {

Announcer::Announcer(std::size_t tracker_count, TimeUs now) : trackers_(tracker_count) {
  for (Tracker& t : trackers_) t.due = now;
}

TimeUs Announcer::due_at(const Tracker& t, bool lonely) {
  if (t.busy) return kNever;
  if (lonely && t.started && !t.failing) return std::min(t.due, t.last + policy::kAnnounceLonely);
  return t.due;
}

std::vector<Announcer::Due> Announcer::due(bool lonely, TimeUs now) {
  std::vector<Due> result;
  for (std::size_t i = 0; i < trackers_.size(); ++i) {
    Tracker& t = trackers_[i];
    if (due_at(t, lonely) > now) continue;
    t.busy = true;
    t.last = now;
    auto event = proto::AnnounceEvent::kPeriodic;
    if (!t.started) {
      event = proto::AnnounceEvent::kStarted;
    } else if (t.tell_complete) {
      event = proto::AnnounceEvent::kCompleted;
    }
    t.tell_complete = false;
    result.push_back({i, event});
  }
  return result;
}

TimeUs Announcer::next_due(bool lonely) const {
  TimeUs at = kNever;
  for (const Tracker& t : trackers_) at = std::min(at, due_at(t, lonely));
  return at;
}

void Announcer::replied(std::size_t tracker, std::uint32_t interval_seconds, TimeUs now) {
  Tracker& t = trackers_[tracker];
  t.busy = t.failing = false;
  t.error.clear();
  t.started = true;
  t.failures = 0;
  t.due = now + std::clamp(TimeUs{interval_seconds} * kSecond, policy::kAnnounceIntervalMin,
                           policy::kAnnounceIntervalMax);
  if (t.tell_complete) t.due = now;
}

Announcer::Standing Announcer::standing(std::size_t tracker) const {
  const Tracker& t = trackers_[tracker];
  return {t.started && !t.failing, t.error, t.last};
}

bool Announcer::failed(std::size_t tracker, std::uint32_t retry_seconds, TimeUs now,
                       const std::string& why) {
  Tracker& t = trackers_[tracker];
  const bool news = !t.failing;
  t.busy = false;
  t.failing = true;
  t.error = why;
  const TimeUs backoff =
      std::min(policy::kAnnounceRetryFirst << std::min(t.failures, 10u), policy::kAnnounceRetryMax);
  ++t.failures;
  t.due = now + std::clamp(TimeUs{retry_seconds} * kSecond, backoff, policy::kAnnounceIntervalMax);
  return news;
}

void Announcer::completed(TimeUs now) {
  for (Tracker& t : trackers_) {
    if (!t.started && !t.busy) continue;
    t.tell_complete = true;
    if (!t.failing) t.due = now;
  }
}

std::vector<std::size_t> Announcer::to_leave() const {
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < trackers_.size(); ++i) {
    if (trackers_[i].started || trackers_[i].busy) result.push_back(i);
  }
  return result;
}

}  // namespace firn::core
