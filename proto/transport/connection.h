// One connection on its I/O thread: its states, and what moves it from one to the next.
//
//   kDialling -> kHandshake -> kOpen -> kFlushing -> kClosed
//   (accepted:)  kHandshake               (from any state)
//
// The work of a state is done by parts that know nothing of states: dialer, TLS session, stream
// reader and stream writer. kFlushing: what is queued still goes out, then the sending side is
// shut, and the end of the other side is waited for (closing at once would reset the connection
// under the bytes just sent).
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "proto/transport/admission.h"
#include "proto/transport/dialer.h"
#include "proto/transport/liveness.h"
#include "proto/transport/polled_socket.h"
#include "proto/transport/sockets.h"
#include "proto/transport/stream_reader.h"
#include "proto/transport/stream_writer.h"
#include "proto/transport/timer.h"
#include "proto/transport/tls.h"
#include "proto/transport/transport.h"

namespace firn::proto::transport {

class IoLoop;

// After each public call the connection may be closed and retired (its object still lives until
// the loop comes round). Emits events; never calls back into the loop's public orders.
class Connection {
 public:
  Connection(IoLoop& loop, ConnectionId id);
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // `full`: there are as many connections as there are descriptors for, and it ends at once.
  void connect(const Address& where, bool full);
  void adopt(Socket socket, const SocketAddress& remote, Admission::Place place);

  void send(OutgoingFrame frame, FrameTag tag);
  void overflow();
  void close();
  // Its place was given to a newcomer.
  void give_way();
  void pause_reading(bool paused);
  // Of requests whose answers come later.
  void answer(std::span<const std::uint8_t> frames);
  // The turn asked for with IoLoop::run_soon().
  void take_turn();

 private:
  enum class State { kDialling, kHandshake, kOpen, kFlushing, kClosed };

  // What wakes it. One that finds no memory ends, and no other.
  void on_poll(int status, int events);
  void on_timer();
  void go_on(bool readable, bool writable);

  // On the way to kOpen.
  void dialled(Result<Dialer::Connected> outcome);
  void begin_handshake();
  void shake_hands();
  void opened();

  // In kOpen.
  void after(StreamReader::Reading reading);
  void read_some();
  void write_some();
  void send_replies();
  void send_now(std::span<const std::uint8_t> frames);
  void wrote(const StreamWriter::Writing& writing);
  bool reads() const { return !reader_.paused() && !holds_ && !awaits_answer_; }

  // The end.
  void begin_flush(Error ending);
  void flush();
  void finish_flush();
  void finish(ErrorCode code, std::string detail);
  void finish(Error error);

  // What it waits for.
  void watch();
  void ask_turn();
  void ask_reading();
  void arm_timer();

  std::uint64_t now_ms() const;
  std::string what() const;

  IoLoop& loop_;
  const ConnectionId id_;
  State state_ = State::kDialling;
  bool outgoing_ = false;
  Address where_;  // outgoing
  PeerInfo info_;
  std::optional<Admission::Place> place_;  // accepted ones

  PolledSocket socket_;
  std::optional<Dialer> dialer_;  // until connected
  std::optional<TlsSession> tls_;
  StreamReader reader_;
  StreamWriter writer_;
  Liveness liveness_;

  Timer timer_;
  std::uint64_t deadline_ms_ = 0;  // of connecting, shaking hands, flushing
  bool turn_asked_ = false;        // of the loop
  bool read_asked_ = false;        // in that turn
  bool awaits_answer_ = false;     // before more is read
  bool holds_ = false;             // replies wait to be taken before more is read
  bool tls_writes_ = false;        // TLS must write before it can read, or shake hands
  std::optional<Error> ending_;    // while flushing: what on_close will say
};

}  // namespace firn::proto::transport
