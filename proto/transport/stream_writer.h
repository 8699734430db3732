// What goes out on an open connection: frames are queued, written as TLS records, and followed
// until they have left the queues of their path.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "proto/transport/backlog_watch.h"
#include "proto/transport/departures.h"
#include "proto/transport/send_queue.h"
#include "proto/transport/tls.h"
#include "proto/transport/transport.h"

namespace firn::proto::transport {

class IoLoop;

// One connection, on its loop's thread.
class StreamWriter {
 public:
  struct Writing {
    std::size_t bytes = 0;   // written
    bool turn_over = false;  // there is more, but others have waited
    bool closed = false;     // the other side takes no more
  };

  StreamWriter(IoLoop& loop, ConnectionId id);

  void push(OutgoingFrame frame, FrameTag tag);
  // Bytes pushed and not yet written.
  std::size_t bytes() const { return queue_.bytes(); }
  bool empty() const { return queue_.empty(); }

  // Writes what the socket takes.
  Writing write(TlsSession& tls);
  // Behind all that was pushed: writes what the socket takes at once, and keeps the rest.
  Writing write(TlsSession& tls, std::span<const std::uint8_t> bytes);
  // `bytes` were written: the user is told which tagged frames have left, now and as they leave.
  void follow(int fd, std::size_t bytes) { backlog_.wrote(fd, bytes); }
  // Whether a tagged frame has not left yet.
  bool awaits_departures() const { return departures_.awaits_any(); }
  void stop_following() { backlog_.stop(); }

  // Nothing can be written until the socket is writable, which unblock() says.
  bool blocked() const { return blocked_; }
  void unblock() { blocked_ = false; }

  // Tells the other side that no more will come.
  void shut(TlsSession& tls, int fd);
  bool is_shut() const { return shut_; }

  void close() { backlog_.close(); }

 private:
  void tell_departures(std::size_t backlog_bytes);

  IoLoop& loop_;
  const ConnectionId id_;
  SendQueue queue_;
  Departures departures_;
  BacklogWatch backlog_;
  bool blocked_ = false;
  bool shut_ = false;
};

}  // namespace firn::proto::transport
