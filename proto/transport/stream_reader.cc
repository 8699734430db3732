#include "proto/transport/stream_reader.h"

#include <algorithm>
#include <utility>

#include "proto/transport/io_loop.h"
#include "proto/transport/sockets.h"

namespace firn::proto::transport {

namespace {

constexpr std::size_t kRepliesMax = 64 << 10;  // then they go out before more is asked
// A record counts as so much of a turn at least: records of one byte cost far more time than their
// bytes tell.
constexpr std::size_t kReadBytesMin = 512;

}  // namespace

StreamReader::StreamReader(IoLoop& loop, ConnectionId id, std::function<void()> rest_over)
    : loop_(loop),
      id_(id),
      rest_over_(std::move(rest_over)),
      frames_(loop.shared().options.find_payload),
      rest_timer_(loop.uv(), [this] {
        resting_ = rest_timed_ = false;
        rest_over_();
      }) {}

StreamReader::Reading StreamReader::read_arrived(TlsSession& tls, int fd) {
  if (tls.awaited_bytes() == 0) {
    rest(pace_.first_rest_ms(waiting_bytes(fd), uv_hrtime() / 1000));
    if (resting_) {
      acknowledge_calmly(fd);
      return {};
    }
  }
  return read(tls, fd);
}

StreamReader::Reading StreamReader::read(TlsSession& tls, int fd) {
  Reading reading;
  const auto ended = [&reading](Outcome outcome) {
    reading.outcome = outcome;
    return std::move(reading);
  };
  std::size_t left = kTurnBytes;
  tls.look_again();
  for (;;) {
    if (auto stopped = deliver_frames()) {
      stopped->received = reading.received;
      return *std::move(stopped);
    }
    if (left == 0) return ended(Outcome::kTurnOver);
    const TlsProgress progress = tls.read(frames_.prepare(kTlsRecordBytes));
    switch (progress.outcome) {
      case TlsOutcome::kDone:
        frames_.commit(progress.bytes);
        reading.received = true;
        loop_.pace().received(progress.bytes);
        left -= std::min(left, std::max(progress.bytes, kReadBytesMin));
        break;
      case TlsOutcome::kWantRead:
        if (loop_.replies().size() == 0) acknowledge_calmly(fd);  // else they say it
        if (!keeps_buffer_) frames_.release();
        rest(pace_.rest_ms(tls.awaited_bytes(), tls.received_bytes(), uv_hrtime() / 1000));
        return ended(Outcome::kWaits);
      case TlsOutcome::kWantWrite:
        return ended(Outcome::kTlsWrites);
      case TlsOutcome::kClosed:
        return ended(Outcome::kClosed);
      case TlsOutcome::kFailed:
        return ended(Outcome::kFailed);
    }
  }
}

// Empty: all whole frames were taken, and more may be read.
std::optional<StreamReader::Reading> StreamReader::deliver_frames() {
  while (!paused_) {
    auto frame = frames_.next_frame();
    if (!frame) return Reading{Outcome::kNoFrames, false, frame.error()};
    if (!frame->has_value()) return std::nullopt;
    // May pause reading.
    const Status taken = hand_on(**frame);
    if (!taken) return Reading{Outcome::kRefused, false, taken.error()};
    delivered_ = true;
    if (loop_.replies().later()) return Reading{};
    if (loop_.replies().size() >= kRepliesMax) return Reading{Outcome::kTurnOver};
  }
  return Reading{};
}

Status StreamReader::hand_on(FrameReader::Frame& frame) {
  EventSink& sink = loop_.shared().sink;
  if (frame.payload) return sink.on_payload(id_, frame.head, std::move(frame.payload));
  return sink.on_request(id_, frame.head, loop_.replies());
}

void StreamReader::rest(std::uint64_t rest_ms) {
  if (rest_ms == 0) return;
  resting_ = true;
  rest_until_ms_ = uv_now(loop_.uv()) + rest_ms;
  // A loop that rests between its turns is not woken by what comes meanwhile: with no timer, and
  // with its socket polled as ever, it finds the connection in the first turn that is late enough.
  if (!loop_.pace().rests()) time_rest(loop_.together_ms(rest_ms));
}

bool StreamReader::still_rests() {
  if (!resting_ || rest_timed_) return resting_;
  const std::uint64_t now = uv_now(loop_.uv());
  if (now >= rest_until_ms_) {
    resting_ = false;
  } else if (!loop_.pace().rests()) {  // any more: polling would bring this call
                                       // again and again
    time_rest(rest_until_ms_ - now);
  }
  return resting_;
}

void StreamReader::time_rest(std::uint64_t rest_ms) {
  rest_timed_ = true;
  rest_timer_.start(rest_ms);
}

}  // namespace firn::proto::transport
