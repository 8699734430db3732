#include "proto/transport/backlog_watch.h"

#include <algorithm>
#include <utility>

#include "proto/transport/backlog.h"
#include "proto/transport/io_loop.h"
#include "proto/transport/tls.h"

namespace firn::proto::transport {
namespace {

constexpr std::uint64_t kBacklogMs = 16;

}  // namespace

BacklogWatch::BacklogWatch(IoLoop& loop, Report report)
    : loop_(loop), report_(std::move(report)), timer_(loop.uv(), [this] { look(false); }) {}

void BacklogWatch::follows(std::size_t frame_bytes) {
  frame_bytes_ = frame_bytes;
}

void BacklogWatch::wrote(int fd, std::size_t bytes) {
  fd_ = fd;
  unlooked_bytes_ += bytes;
  if (unlooked_bytes_ > settled_bytes_) {
    look(true);
  } else if (reported_backlog_ == 0) {  // else the timer looks, and reports this too
    report_(0);
  }
}

void BacklogWatch::look(bool always) {
  loop_.note_action();
  unlooked_bytes_ = 0;
  PathState path = path_state(fd_);
  settled_bytes_ = settled_bytes(frame_bytes_, path.rtt_min_us);
  const std::uint64_t now_us = uv_hrtime() / 1000;
  tell_trial(path, now_us);
  if (path.unacknowledged_bytes > 0) loop_.uplink_queue().shared.share(path);
  if (path.unsent_bytes > 0) {
    all_sent_us_ = 0;
  } else {
    if (all_sent_us_ == 0 || always) all_sent_us_ = now_us;
    path.sent_for_us = now_us - all_sent_us_;
  }
  // What is in queues, and what of it before our link. For the trial, which decides of that, the
  // former counts.
  const Waiting all = waiting(path), ours = waiting(path.with(loop_.uplink_queue().trial.ours()));
  note(all.bytes > 0, now_us);
  if (all.bytes > 0) {
    const std::uint64_t settling_us = ours.bytes > 0 ? ours.settling_us : all.settling_us;
    timer_.start(loop_.together_ms(std::clamp<std::uint64_t>(settling_us / 1000, 1, kBacklogMs)));
  }
  if (!always && ours.bytes > 0 && ours.bytes + kTlsRecordBytes > reported_backlog_) return;
  if (!always && ours.bytes == 0 && reported_backlog_ == 0) return;
  reported_backlog_ = ours.bytes;
  report_(ours.bytes);
}

BacklogWatch::Waiting BacklogWatch::waiting(const PathState& path) const {
  const std::uint64_t settling_us =
      settling_time_us(path, loop_.pace().fast() ? kSettledFastUs : kSettledUs, settled_bytes_);
  return {settling_us > 0 ? queued_bytes(path) : 0, settling_us};
}

// The first look tells of all that came before it. Several loops would take the link from each
// other (queue_trial.h).
void BacklogWatch::tell_trial(const PathState& path, std::uint64_t now_us) {
  const std::uint64_t before = std::exchange(acknowledged_bytes_, path.acknowledged_bytes);
  if (before == 0 || path.acknowledged_bytes < before) return;
  if (loop_.shared().options.io_threads > 1) return;
  loop_.uplink_queue().trial.went_through(path.acknowledged_bytes - before, path.queue_us(),
                                          now_us);
  loop_.shared().times_on_way.store(loop_.uplink_queue().trial.times(), std::memory_order_relaxed);
}

void BacklogWatch::note(bool waits, std::uint64_t now_us) {
  if (waits == std::exchange(waits_, waits)) return;
  waits ? loop_.uplink_queue().trial.begin_wait(now_us)
        : loop_.uplink_queue().trial.end_wait(now_us);
}

void BacklogWatch::stop() {
  timer_.stop();
  reported_backlog_ = 0;
  note(false, uv_hrtime() / 1000);
}

void BacklogWatch::close() {
  stop();
  timer_.close();
}

}  // namespace firn::proto::transport
