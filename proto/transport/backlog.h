// What a TCP connection has been given and still stands in a queue: unsent in the kernel, or sent
// and waiting before the narrowest link of its path.
//
// A link that is slower than what feeds it collects its queue in front of it: in the qdisc, the
// modem, the router. To TCP that data is sent and not acknowledged, like data on its way; what
// tells them apart is the round-trip time. Of the unacknowledged bytes the part (rtt - rtt_min) /
// rtt is queued (TCP Vegas: Brakmo, Peterson 1995, section 3.2).
//
// A sender that wants to choose late, and has many connections over one uplink, must count this: a
// dozen connections with one block each "sent" are 200 KB, a fifth of a second at 8 Mbit/s.
#pragma once

#include <cstddef>
#include <cstdint>

namespace firn::proto::transport {

struct PathState {
  std::uint32_t queue_us() const { return rtt_us > rtt_min_us ? rtt_us - rtt_min_us : 0; }
  // The same path, if `part` (0 to 1) of its queue counts.
  PathState with(double part) const {
    PathState path = *this;
    path.rtt_min_us = rtt_us - static_cast<std::uint32_t>(queue_us() * part);
    return path;
  }

  std::uint64_t unsent_bytes = 0;          // in the kernel
  std::uint64_t unacknowledged_bytes = 0;  // sent
  std::uint64_t acknowledged_bytes = 0;    // since the connection began
  std::uint32_t rtt_us = 0;                // smoothed
  std::uint32_t rtt_min_us = 0;
  std::uint64_t sent_for_us = 0;  // for how long nothing has been unsent
};

// A backlog of this size counts as none: it is the end of a block, whose acknowledgement the
// receiver delays. Of small blocks less is the end (settled_bytes).
inline constexpr std::size_t kSettledBytes = 4 << 10;
inline constexpr std::size_t kSettledBytesMin = 1'500;       // a segment
inline constexpr std::uint32_t kSettledLongPathUs = 50'000;  // there and back

// How small a backlog counts as none, where frames of `frame_bytes` are followed: a quarter of one,
// within these bounds. If a whole small block counted as gone, every connection of a slow uplink
// could have one waiting. On a long path of `rtt_min_us` more waits for the window than for our
// link, and it is always the most (docs/lab/073).
std::size_t settled_bytes(std::size_t frame_bytes, std::uint32_t rtt_min_us);

// Bytes in queues. Below kQueueTime of queueing delay the path counts as free: batching, delayed
// acknowledgements and scheduling make as much.
std::size_t queued_bytes(const PathState& path);

// The queue that all connections share, before our own link. A round-trip time also holds the queue
// in which acknowledgements stand, before the other side's link; that is not ours and delays no
// other connection. What all have in common cannot be more than the least of them.
class SharedQueue {
 public:
  // Takes the path's queueing delay into account, and leaves of it in `path` what may be ours.
  void share(PathState& path);

 private:
  double least_us_ = 0;  // forgotten slowly, as queues grow
  bool known_ = false;
};

// In how long, at the rate of late, that will have gone out.
std::uint64_t drain_time_us(const PathState& path);

// What goes out within this time counts as gone. It covers a part of the time until the next block
// is chosen and made; the rest is covered by the blocks that wait on other connections (kBusyTime
// in client/core/send/choice/late_binding.cc). On fast uplinks those cover little (docs/lab/003).
inline constexpr std::uint64_t kSettledUs = 3'000;
inline constexpr std::uint64_t kSettledFastUs = 10'000;

// In how long no more than `settled_us` of it will be left, or `settled` bytes; 0: it is so now.
// What was sent longer ago than the queue is long has left it, though its acknowledgement waits:
// for the queue before the receiver's link, and until the receiver reads (read_pace.h). Both add
// up: where all receivers have such a queue it looks like ours, and blocks would be held for all of
// it (docs/lab/065).
std::uint64_t settling_time_us(const PathState& path, std::uint64_t settled_us = kSettledUs,
                               std::size_t settled = kSettledBytes);

// What the kernel knows of the connection; zeros (nothing queued) where it does not tell.
PathState path_state(int fd);

}  // namespace firn::proto::transport
