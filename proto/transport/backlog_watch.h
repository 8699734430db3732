// How much of what a connection has written still stands in queues further on (backlog.h).
//
// Bytes leave those queues without an event. So the watch looks again when they will have left, and
// reports only what makes a difference: a report may wake another thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "proto/transport/backlog.h"
#include "proto/transport/timer.h"

namespace firn::proto::transport {

class IoLoop;

// One connection, on its loop's thread.
class BacklogWatch {
 public:
  using Report = std::function<void(std::size_t backlog_bytes)>;

  BacklogWatch(IoLoop& loop, Report report);

  // Frames of this size are of interest, from now on.
  void follows(std::size_t frame_bytes);
  // `bytes` were written to the connection's socket. Reports at once, unless much stands in the
  // queues already: then as that leaves.
  void wrote(int fd, std::size_t bytes);
  // No more reports, until something is written.
  void stop();
  void close();

 private:
  void look(bool always);
  struct Waiting {
    std::size_t bytes = 0;
    std::uint64_t settling_us = 0;
  };
  Waiting waiting(const PathState& path) const;
  void tell_trial(const PathState& path, std::uint64_t now_us);
  void note(bool waits, std::uint64_t now_us);

  IoLoop& loop_;
  const Report report_;
  Timer timer_;  // while sent frames stand in queues on their path
  std::size_t settled_bytes_ = kSettledBytes;
  bool waits_ = false;                    // something is in a queue
  std::size_t frame_bytes_ = SIZE_MAX;    // of those of interest
  int fd_ = -1;                           // of the socket, since something was written
  std::uint64_t all_sent_us_ = 0;         // since then the kernel has nothing unsent; 0: it has
  std::size_t unlooked_bytes_ = 0;        // written since the kernel was last asked what is queued
  std::size_t reported_backlog_ = 0;      // bytes in queues further on, as last reported
  std::uint64_t acknowledged_bytes_ = 0;  // as the kernel said last
};

}  // namespace firn::proto::transport
