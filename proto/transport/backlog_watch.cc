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

void BacklogWatch::wrote(int fd, std::size_t bytes) {
  fd_ = fd;
  unlooked_bytes_ += bytes;
  if (unlooked_bytes_ > kSettledBytes) {
    look(true);
  } else if (reported_backlog_ == 0) {  // else the timer looks, and reports this too
    report_(0);
  }
}

void BacklogWatch::look(bool always) {
  loop_.note_action();
  unlooked_bytes_ = 0;
  PathState path = path_state(fd_);
  if (path.unacknowledged_bytes > 0) loop_.uplink_queue().share(path);
  const std::uint64_t now_us = uv_hrtime() / 1000;
  if (path.unsent_bytes > 0) {
    all_sent_us_ = 0;
  } else {
    if (all_sent_us_ == 0 || always) all_sent_us_ = now_us;
    path.sent_for_us = now_us - all_sent_us_;
  }
  const std::uint64_t settling_us =
      settling_time_us(path, loop_.pace().fast() ? kSettledFastUs : kSettledUs);
  const std::size_t queued = settling_us > 0 ? queued_bytes(path) : 0;
  if (queued > 0) {
    const auto wait_ms = std::clamp<std::uint64_t>(settling_us / 1000, 1, kBacklogMs);
    timer_.start(loop_.together_ms(wait_ms));
  }
  if (!always && queued > 0 && queued + kTlsRecordBytes > reported_backlog_) return;
  reported_backlog_ = queued;
  report_(queued);
}

}  // namespace firn::proto::transport
