// The frames of an open connection, both ways, and its end.
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "proto/transport/backlog.h"
#include "proto/transport/connection.h"
#include "proto/transport/io_loop.h"

namespace firn::proto::transport {
namespace {

// What one connection may move in one turn before others get theirs.
constexpr std::size_t kTurnBytes = 256 << 10;

constexpr std::uint64_t kBacklogMs = 16;

}  // namespace

// The socket has become readable.
void Connection::on_readable() {
  if (tls_->awaited_bytes() == 0) {
    rest_reading(pace_.first_rest_ms(waiting_bytes(socket_.fd()), uv_hrtime() / 1000));
    if (resting_) return acknowledge_calmly(socket_.fd());
  }
  read_some();
}

// Reads until the socket is empty, the turn is over, or reading is paused.
void Connection::read_some() {
  std::size_t left = kTurnBytes;
  tls_->look_again();
  for (;;) {
    if (!deliver_frames()) return;
    if (left == 0) return ask_reading();
    const TlsProgress progress = tls_->read(reader_.prepare(kTlsRecordBytes));
    switch (progress.outcome) {
      case TlsOutcome::kDone:
        reader_.commit(progress.bytes);
        last_received_ms_ = now_ms();
        loop_.pace().received(progress.bytes);
        left -= std::min(left, progress.bytes);
        break;
      case TlsOutcome::kWantRead:
        acknowledge_calmly(socket_.fd());
        return rest_reading(
            pace_.rest_ms(tls_->awaited_bytes(), tls_->received_bytes(), uv_hrtime() / 1000));
      case TlsOutcome::kWantWrite:
        read_wants_write_ = true;
        return;
      case TlsOutcome::kClosed:
        return finish(ErrorCode::kIo, "closed by the other side");
      case TlsOutcome::kFailed:
        return finish(tls_->error(what()));
    }
  }
}

void Connection::rest_reading(std::uint64_t rest_ms) {
  if (rest_ms == 0) return;
  resting_ = true;
  rest_until_ms_ = now_ms() + rest_ms;
  // A loop that rests between its turns is not woken by what comes meanwhile: with no timer, and
  // with its socket polled as ever, it finds the connection in the first turn that is late enough.
  if (!loop_.pace().rests()) arm_rest_timer(loop_.together_ms(rest_ms));
}

// Whether what the socket has should be left there.
bool Connection::rests_now() {
  if (!resting_ || rest_timed_) return resting_;
  const std::uint64_t now = now_ms();
  if (now >= rest_until_ms_) {
    resting_ = false;
  } else if (!loop_.pace().rests()) {  // any more: polling would bring this call again and again
    arm_rest_timer(rest_until_ms_ - now);
  }
  return resting_;
}

void Connection::arm_rest_timer(std::uint64_t rest_ms) {
  rest_timed_ = true;
  uv_timer_start(
      rest_timer_.get(),
      [](uv_timer_t* handle) {
        auto* connection = static_cast<Connection*>(handle->data);
        if (connection == nullptr) return;
        connection->resting_ = connection->rest_timed_ = false;
        connection->go_on(true, false);
      },
      rest_ms, 0);
}

// False: no more reading now (paused, or at an end).
bool Connection::deliver_frames() {
  while (!paused_) {
    auto frame = reader_.next();
    if (!frame) {
      finish(ErrorCode::kProtocol, frame.error().message());
      return false;
    }
    if (!frame->has_value()) return true;
    Status status = loop_.shared().sink.on_frame(id_, **frame);
    if (!status) {
      begin_flush(status.error());
      return false;
    }
  }
  return false;
}

void Connection::write_some() {
  if (write_blocked_ || queue_.empty()) return;
  std::size_t left = kTurnBytes;
  bool progressed = false;
  // A block fills one TLS record and a bit of the next; without this each of the two would end in a
  // packet of its own that is not full (0.4 % of all bytes).
  const bool several_records = queue_.bytes() > kTlsRecordBytes;
  if (several_records) hold_partial_segments(socket_.fd(), true);
  while (!queue_.empty() && left > 0) {
    const TlsProgress progress = tls_->write(queue_.record());
    if (progress.outcome == TlsOutcome::kDone) {
      queue_.consume(progress.bytes);
      loop_.pace().sent(progress.bytes);
      left -= std::min(left, progress.bytes);
      progressed = true;
      continue;
    }
    if (progress.outcome == TlsOutcome::kWantWrite) write_blocked_ = true;
    if (progress.outcome == TlsOutcome::kWantRead || write_blocked_) break;
    // The other side has gone. What it said before may still wait to be read, and say why.
    if (state_ == State::kFlushing) return finish(*std::exchange(ending_, std::nullopt));
    read_some();
    return finish(ErrorCode::kIo, "closed by the other side");
  }
  if (several_records) hold_partial_segments(socket_.fd(), false);
  if (left == 0) ask_turn();
  if (progressed && paused_) last_received_ms_ = now_ms();
  if (!progressed || state_ != State::kOpen) return;
  unlooked_bytes_ += kTurnBytes - left;
  if (unlooked_bytes_ > kSettledBytes) {
    look_at_path(true);
  } else if (reported_backlog_ == 0) {  // else backlog_timer_ looks, and tells of this too
    tell_departures(0);
  }
}

// What stands in queues further on is not under way yet. It leaves them without an event, so this
// looks again when it will have gone, and tells only of what makes a difference: that wakes another
// thread.
void Connection::look_at_path(bool always) {
  loop_.note_action();
  unlooked_bytes_ = 0;
  PathState path = path_state(socket_.fd());
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
    uv_timer_start(
        backlog_timer_.get(),
        [](uv_timer_t* handle) {
          auto* connection = static_cast<Connection*>(handle->data);
          if (connection != nullptr && connection->state_ == State::kOpen)
            connection->look_at_path(false);
        },
        loop_.together_ms(wait_ms), 0);
  }
  if (!always && queued > 0 && queued + kTlsRecordBytes > reported_backlog_) return;
  reported_backlog_ = queued;
  tell_departures(queued);
}

// Of what was written `backlog_bytes` stand in queues further on.
void Connection::tell_departures(std::size_t backlog_bytes) {
  const std::size_t unsent_bytes = queue_.bytes() + backlog_bytes;
  for (FrameTag tag; (tag = departures_.next(unsent_bytes)) != kUntagged;)
    loop_.shared().sink.on_departed(id_, tag);
}

void Connection::flush() {
  if (!sending_shut_) {
    write_some();
    if (state_ == State::kClosed) return;
    // What on_frame sent before it returned an error (a goodbye) may still be in the mailbox.
    const bool more_to_come =
        ending_->code != ErrorCode::kCancelled && loop_.mailbox().waiting_bytes(id_) > 0;
    if (queue_.empty() && !more_to_come) {
      tls_->say_goodbye();
      ::shutdown(socket_.fd(), SHUT_WR);
      sending_shut_ = true;
    }
  }
  if (!drain_raw()) finish(*std::exchange(ending_, std::nullopt));
}

// Throws away what still comes in. False: nothing more will.
bool Connection::drain_raw() {
  for (std::size_t left = kTurnBytes; left > 0;) {
    // MSG_TRUNC on TCP discards without copying (tcp(7)).
    const ssize_t got = ::recv(socket_.fd(), nullptr, left, MSG_TRUNC | MSG_DONTWAIT);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    left -= static_cast<std::size_t>(got);
  }
  return true;
}

}  // namespace firn::proto::transport
