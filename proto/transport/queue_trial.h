// How much of the queue that all connections share is our own (SharedQueue in backlog.h).
//
// A round trip tells of a queue, and not where it stands. That of acknowledgements at receivers
// whose uplinks are full looks like our own if all receivers have one; so do their narrow
// downlinks. A sender that counts it as its own waits for it before it chooses the next block, has
// little on its way, and leaves a fast uplink idle (docs/lab/073).
//
// What tells them apart is a trial: for a moment half as much of the queue counts as ours, so that
// about twice as much is on its way; a quarter where the rate has fallen far (docs/lab/085).
// Either more goes through then, or the queue becomes longer (Little's law). If it becomes longer
// it stands before our link. Trials that fail come ever more seldom. Rates vary from one quarter of
// a second to the next, so a gain that is not large is to last for a second (docs/lab/090). What
// goes through may also have grown by itself, as at the beginning: so a first trial that goes well
// is compared with counting more once more before others follow.
//
// Before a link that is shared with others it is the same for a sender that has half of it; one
// that has less than two fifths gains more than the queue grows, and comes to a larger share, as
// with more connections. So the loops of one process, which share its link, make no trials if they
// are several.
#pragma once

#include <algorithm>
#include <cstdint>

#include "proto/transport/backlog.h"

namespace firn::proto::transport {

// Times in microseconds, of any one clock. One thread.
class QueueTrial {
 public:
  // The part of the shared queue that counts as ours: 1, 1/2, 1/4 and so on, at last 0.
  double ours() const;
  // How many times as much may be on its way as where the shared queue stands before this link, as
  // trials have shown: 1, 2, 4 and so on.
  std::uint32_t times() const { return 1u << std::min(level_, kept_); }

  // A connection begins or ceases to have something in a queue, its own or not. Only where some
  // always has does what goes through tell what could.
  void begin_wait(std::uint64_t now_us);
  void end_wait(std::uint64_t now_us);
  // A receiver has acknowledged `bytes` more; `delay_us`: queueing delay of its connection.
  void went_through(std::uint64_t bytes, std::uint64_t delay_us, std::uint64_t now_us);

 private:
  enum class Phase { kMeasuring, kSettling, kTrying };
  struct Flow {
    double rate = 0;   // bytes a second; 0: not known
    double delay = 0;  // mean over bytes, microseconds
  };

  void begin_window(std::uint64_t now_us);
  bool idled(std::uint64_t now_us) const;
  bool fallen(double rate) const;
  void cut_short(std::uint64_t now_us);
  void measured(const Flow& flow, std::uint64_t time_us, std::uint64_t now_us);
  bool undecided(std::uint64_t time_us) const;
  void judge(const Flow& flow, std::uint64_t now_us);
  void try_another(std::uint32_t halvings, std::uint64_t now_us);
  void failed(std::uint64_t now_us);
  bool can_count_less() const;
  bool next_counts_more() const;
  void rest(std::uint64_t pause_us, std::uint64_t now_us);

  Phase phase_ = Phase::kMeasuring;
  std::uint32_t kept_ = 0;   // halvings that are in use but for trials
  std::uint32_t level_ = 0;  // in use
  bool counting_more_ = false;
  bool unconfirmed_ = false;   // a first trial went well, and counting more is tried again
  std::uint32_t further_ = 1;  // halvings of the next trial
  Flow before_;                // without the trial; on the way to counting more, the best
  double usual_ = 0;           // mean rate of about the last second; 0: not known
  double failed_at_ = 0;       // rate before the last trial that failed
  double best_ = 0;            // highest rate of late of a window in which much went through
  std::uint64_t due_us_ = 0;
  std::uint64_t pause_us_ = 0;  // after the last trial that failed

  // The window in which it is measured what goes through.
  bool begun_ = false;
  std::uint64_t began_us_ = 0, bytes_ = 0, idle_us_ = 0;
  double delays_ = 0;  // of all bytes, summed
  std::uint64_t idle_since_us_ = 0;
  std::uint32_t waiting_ = 0;  // connections
};

// What is known of the queue before the link of a loop's connections.
struct UplinkQueue {
  SharedQueue shared;
  QueueTrial trial;
};

}  // namespace firn::proto::transport
