// One receiver's connection to the seed: a socket that reads at a given rate, the product's TLS
// session and frames on it, and the receiver behind them. Its thread tells it of events and time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "proto/framing.h"
#include "proto/transport/identity.h"
#include "proto/transport/send_queue.h"
#include "proto/transport/sockets.h"
#include "proto/transport/tls.h"
#include "tests/load/receiver.h"

namespace firn::load {

// Where to, for all links of a run.
struct Target {
  proto::transport::SocketAddress address;
  std::optional<PeerId> id;
};

class Link {
 public:
  Link(const Diet& diet, std::uint32_t first_generation, bool samples)
      : diet_(diet), receiver_(diet, first_generation, samples) {}

  // Begins to connect, under a fresh identity, from `source_ip`.
  Status connect(const Target& target, const std::string& source_ip, TimeUs now);
  // The socket may be read or written, or time has passed.
  Status go_on(TimeUs now);

  int fd() const { return socket_.fd(); }
  bool open() const { return state_ == State::kOpen; }
  // What it waits for. Reading waits for time where the socket has given more than its rate.
  bool wants_to_read(TimeUs now) const { return !reads_at(now); }
  bool wants_to_write() const { return blocked_ || state_ == State::kConnecting; }
  // When to call go_on() at the latest; nullopt: not before the socket has something.
  std::optional<TimeUs> next_due(TimeUs now) const;

  const Receiver& receiver() const { return receiver_; }

 private:
  enum class State { kConnecting, kHandshake, kOpen };

  Status shake_hands();
  Status read(TimeUs now);
  Status deliver(TimeUs now);
  Status write();
  void push(const proto::PeerMessage& message);
  // When reading goes on; nullopt: at once.
  std::optional<TimeUs> reads_at(TimeUs now) const;

  const Diet& diet_;
  Receiver receiver_;
  State state_ = State::kConnecting;
  proto::transport::Socket socket_;
  std::optional<proto::transport::TlsSession> tls_;
  std::optional<PeerId> expected_;
  proto::FrameReader frames_;
  proto::transport::SendQueue out_;
  bool blocked_ = false;   // out_ waits for the socket
  double read_bytes_ = 0;  // of payload, since the first
  TimeUs read_since_ = 0;
};

}  // namespace firn::load
