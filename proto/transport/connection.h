// One connection on its I/O thread: name look-up, TCP, TLS handshake, frames both ways, end.
//
//   kResolving -> kConnecting -> kHandshake -> kOpen -> kFlushing -> kClosed
//                 (accepted:)    kHandshake               (from any state)
//
// kFlushing: what is queued still goes out, then the sending side is shut, and the end of the other
// side is waited for (closing at once would reset the connection under the bytes just sent).
#pragma once

#include <uv.h>

#include <chrono>
#include <optional>
#include <vector>

#include "proto/framing.h"
#include "proto/transport/admission.h"
#include "proto/transport/departures.h"
#include "proto/transport/read_pace.h"
#include "proto/transport/send_queue.h"
#include "proto/transport/sockets.h"
#include "proto/transport/tls.h"
#include "proto/transport/transport.h"
#include "proto/transport/uv_handle.h"

namespace firn::proto::transport {

class IoLoop;

// After each public call the connection may be closed and retired (its object still lives until
// the loop comes round). Emits events; never calls back into the loop's public orders.
class Connection {
 public:
  Connection(IoLoop& loop, ConnectionId id);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void connect(const Address& where);
  void adopt(Socket socket, const SocketAddress& remote, Admission::Place place);

  void send(OutgoingFrame frame, FrameTag tag);
  void overflow();
  void close();
  void pause_reading(bool paused);
  // The turn asked for with IoLoop::run_soon().
  void take_turn();

 private:
  enum class State { kResolving, kConnecting, kHandshake, kOpen, kFlushing, kClosed };
  struct Lookup;

  // connection.cc: the states
  void on_poll(int status, int events);
  void on_timer();
  void go_on(bool readable, bool writable);
  void begin_handshake();
  void shake_hands();
  void opened();
  void begin_flush(Error ending);
  void finish(Error error);
  void finish(ErrorCode code, std::string detail);
  bool start_polling();
  void watch();
  void ask_turn();
  void ask_reading();
  void arm_timer();
  bool is_gone();
  std::uint64_t now_ms() const;
  std::string what() const;

  // connecting.cc: from a name to a TCP connection
  void looked_up(int status, const addrinfo* list);
  void try_next_address();
  void finish_attempt();
  void cancel_lookup();
  void attempt_failed(int error_number);

  // streaming.cc: frames
  void on_readable();
  void read_some();
  void rest_reading(std::uint64_t rest_ms);
  bool rests_now();
  void arm_rest_timer(std::uint64_t rest_ms);
  bool deliver_frames();
  void write_some();
  void look_at_path(bool always);
  void tell_departures(std::size_t backlog_bytes);
  void flush();
  bool drain_raw();

  IoLoop& loop_;
  const ConnectionId id_;
  State state_ = State::kResolving;
  bool outgoing_ = false;
  Address where_;                          // outgoing
  std::vector<SocketAddress> candidates_;  // last one is tried next
  Lookup* lookup_ = nullptr;               // owned by libuv while it runs
  int last_errno_ = 0;
  PeerInfo info_;
  std::optional<Admission::Place> place_;  // accepted ones

  Socket socket_;
  UvHandle<uv_poll_t> poll_;  // destroyed before socket_
  int watched_ = 0;           // events that poll_ waits for
  UvHandle<uv_timer_t> timer_;
  UvHandle<uv_timer_t> backlog_timer_;     // while sent frames stand in queues on their path
  UvHandle<uv_timer_t> rest_timer_;        // while reading rests
  std::uint64_t deadline_ms_ = 0;          // of connecting, shaking hands, flushing
  std::uint64_t attempt_deadline_ms_ = 0;  // of the present address
  std::uint64_t last_received_ms_ = 0;     // while paused: last sent
  std::uint64_t rest_until_ms_ = 0;
  std::uint64_t unanswered_since_ms_ = 0;  // its kernel owes an acknowledgement; 0: it does not

  std::optional<TlsSession> tls_;
  FrameReader reader_;
  ReadPace pace_;
  SendQueue queue_;
  Departures departures_;             // of what was put into queue_
  std::uint64_t all_sent_us_ = 0;     // since then the kernel has nothing unsent; 0: it has
  std::size_t unlooked_bytes_ = 0;    // written since the kernel was last asked what is queued
  std::size_t reported_backlog_ = 0;  // bytes in queues further on, as last reported
  bool paused_ = false;
  bool resting_ = false;           // reading, until rest_until_ms_
  bool rest_timed_ = false;        // rest_timer_ ends it, and poll_ does not wait for more
  bool turn_asked_ = false;        // of the loop
  bool read_asked_ = false;        // in that turn
  bool write_blocked_ = false;     // until the socket is writable
  bool read_wants_write_ = false;  // TLS must write before it can read, or shake hands
  bool sending_shut_ = false;
  std::optional<Error> ending_;  // while flushing: what on_close will say
};

}  // namespace firn::proto::transport
