#include "proto/transport/stream_writer.h"

#include <sys/socket.h>

#include <utility>

#include "proto/transport/io_loop.h"
#include "proto/transport/sockets.h"

namespace firn::proto::transport {

StreamWriter::StreamWriter(IoLoop& loop, ConnectionId id)
    : loop_(loop), id_(id), backlog_(loop, [this](std::size_t bytes) { tell_departures(bytes); }) {}

void StreamWriter::push(OutgoingFrame frame, FrameTag tag) {
  departures_.add(frame.bytes(), tag);
  if (tag != kUntagged) backlog_.follows(frame.bytes());
  queue_.push(std::move(frame));
}

StreamWriter::Writing StreamWriter::write(TlsSession& tls) {
  Writing writing;
  if (blocked_ || queue_.empty()) return writing;
  while (!queue_.empty() && writing.bytes < kTurnBytes) {
    const std::span<const std::uint8_t> record = queue_.record();
    // A block fills one TLS record and a bit of the next; if each of the two ended in a packet of
    // its own that is not full, this would be 0.4 % of all bytes.
    const bool more_follows =
        queue_.bytes() > record.size() && writing.bytes + record.size() < kTurnBytes;
    const TlsProgress progress = tls.write(record, more_follows);
    if (progress.outcome == TlsOutcome::kDone) {
      queue_.consume(progress.bytes);
      loop_.pace().sent(progress.bytes);
      writing.bytes += progress.bytes;
      continue;
    }
    blocked_ = progress.outcome == TlsOutcome::kWantWrite;
    writing.closed = !blocked_ && progress.outcome != TlsOutcome::kWantRead;
    break;
  }
  writing.turn_over = writing.bytes >= kTurnBytes;
  return writing;
}

StreamWriter::Writing StreamWriter::write(TlsSession& tls, std::span<const std::uint8_t> bytes) {
  Writing writing;
  departures_.add(bytes.size(), kUntagged);
  while (!bytes.empty() && !blocked_ && queue_.empty() && !writing.closed) {
    const TlsProgress progress = tls.write(bytes, bytes.size() > kTlsRecordBytes);
    if (progress.outcome == TlsOutcome::kDone) {
      bytes = bytes.subspan(progress.bytes);
      writing.bytes += progress.bytes;
      continue;
    }
    blocked_ = progress.outcome == TlsOutcome::kWantWrite;
    writing.closed = !blocked_;
  }
  loop_.pace().sent(writing.bytes);
  // As OpenSSL demands, a record that was tried comes again with the same bytes: it is the first of
  // the queue.
  if (!bytes.empty() && !writing.closed) queue_.push({std::string(bytes.begin(), bytes.end()), {}});
  return writing;
}

// Of what was written `backlog_bytes` stand in queues further on.
void StreamWriter::tell_departures(std::size_t backlog_bytes) {
  const std::size_t unsent_bytes = queue_.bytes() + backlog_bytes;
  for (FrameTag tag; (tag = departures_.next(unsent_bytes)) != kUntagged;)
    loop_.shared().sink.on_departed(id_, tag);
}

void StreamWriter::shut(TlsSession& tls, int fd) {
  tls.say_goodbye();
  ::shutdown(fd, SHUT_WR);
  shut_ = true;
}

}  // namespace firn::proto::transport
