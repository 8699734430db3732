// What comes in on an open connection: TLS records are cut into frames, and each frame is handed to
// the transport's user.
//
// Reading stops in two ways. The user pauses it, until the user wants more. And it rests by itself
// while a record comes slowly (read_pace.h), until all of the record should be there.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "proto/framing.h"
#include "proto/transport/read_pace.h"
#include "proto/transport/timer.h"
#include "proto/transport/tls.h"
#include "proto/transport/transport.h"

namespace firn::proto::transport {

class IoLoop;

// One connection, on its loop's thread.
class StreamReader {
 public:
  enum class Outcome {
    kWaits,      // for the socket, for the end of a rest or of a pause
    kTurnOver,   // there may be more, but others have waited
    kTlsWrites,  // TLS must write before it can read
    kRefused,    // the user refused a frame: `error`
    kNoFrames,   // what comes is not frames: `error`
    kClosed,     // by the other side
    kFailed,     // the TLS session says why
  };
  struct Reading {
    Outcome outcome = Outcome::kWaits;
    bool received = false;  // something
    std::optional<Error> error = {};
  };

  // `rest_over` is called when a rest has ended: there may be something to read.
  StreamReader(IoLoop& loop, ConnectionId id, std::function<void()> rest_over);

  // Both hand frames to the user as they become whole. read(): until there is no more, the turn is
  // over, or reading is paused. read_arrived(): the socket has become readable; may rest instead.
  Reading read(TlsSession& tls, int fd);
  Reading read_arrived(TlsSession& tls, int fd);

  void limit_first_frame(std::size_t bytes_max) { frames_.limit_first(bytes_max); }
  // Whether memory stays with it while nothing comes.
  void keep_buffer(bool keep) { keeps_buffer_ = keep; }
  void pause(bool paused) { paused_ = paused; }
  bool paused() const { return paused_; }
  // A whole frame has come.
  bool has_delivered() const { return delivered_; }
  // Whether what the socket has should be left there.
  bool rests() const { return resting_; }
  // The same, and ends a rest that nothing else ends.
  bool still_rests();
  // Whether the socket's becoming readable means anything now.
  bool wants_readable() const { return !paused_ && !rest_timed_; }

  void close() { rest_timer_.close(); }

 private:
  std::optional<Reading> deliver_frames();
  Status hand_on(FrameReader::Frame& frame);
  void rest(std::uint64_t rest_ms);
  void time_rest(std::uint64_t rest_ms);

  IoLoop& loop_;
  const ConnectionId id_;
  const std::function<void()> rest_over_;
  FrameReader frames_;
  ReadPace pace_;
  Timer rest_timer_;
  std::uint64_t rest_until_ms_ = 0;
  bool keeps_buffer_ = true;
  bool delivered_ = false;
  bool paused_ = false;
  bool resting_ = false;     // until rest_until_ms_
  bool rest_timed_ = false;  // rest_timer_ ends it, and the socket is not polled for more
};

}  // namespace firn::proto::transport
