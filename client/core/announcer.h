// When to tell which tracker what. One schedule per tracker; failures back off and are said once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "client/core/types.h"
#include "proto/messages.h"

namespace firn::core {

class Announcer {
 public:
  Announcer(std::size_t tracker_count, TimeUs now);

  struct Due {
    std::size_t tracker = 0;
    proto::AnnounceEvent event = proto::AnnounceEvent::kPeriodic;
  };
  // Announces to make now; each counts as under way until replied or failed. `lonely`: we need more
  // of the swarm than we have found, ask sooner.
  std::vector<Due> due(bool lonely, TimeUs now);
  TimeUs next_due(bool lonely) const;

  void replied(std::size_t tracker, std::uint32_t interval_seconds, TimeUs now);
  // True if this is news (the tracker worked before, or was never tried). `why`: for standing().
  bool failed(std::size_t tracker, std::uint32_t retry_seconds, TimeUs now,
              const std::string& why = "it failed");
  // What it has said last.
  struct Standing {
    bool answered = false;
    std::string error;  // not empty: the last announce failed
    TimeUs since = 0;   // when it was asked last
  };
  Standing standing(std::size_t tracker) const;
  // We have everything now: all trackers are told.
  void completed(TimeUs now);
  // Trackers that know of us and must be told that we go.
  std::vector<std::size_t> to_leave() const;

 private:
  struct Tracker {
    bool started = false;  // it has answered a STARTED
    bool busy = false;
    bool failing = false;
    std::string error;  // while it is failing
    bool tell_complete = false;
    std::uint32_t failures = 0;
    TimeUs due = 0;
    TimeUs last = 0;
  };
  static TimeUs due_at(const Tracker& tracker, bool lonely);
  std::vector<Tracker> trackers_;
};

}  // namespace firn::core
