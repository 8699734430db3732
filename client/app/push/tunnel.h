// One end of the way through an ssh session, for a host where neither side can call the other: the
// bytes of one TCP connection of firn's own port, in frames of the session.
//
//   pusher's core -- 127.0.0.1 -- tunnel ==ssh==> tunnel -- 127.0.0.1 -- the host's firn
//
// At the pusher it listens and its core calls it; at the host it calls the port that firn listens
// at there. Each end says once for each connection that no more comes (kTunnelEnd); a new
// connection begins when both have.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "client/app/push/byte_stream.h"
#include "client/app/push/frames.h"
#include "client/app/runtime/event_loop.h"
#include "proto/base/result.h"

namespace firn::app {

// Where so much waits to be written on one side, nothing more is read on the other.
inline constexpr std::size_t kTunnelBytesWaiting = 256 << 10;

// Main thread.
class Tunnel {
 public:
  // Sends a frame through the session.
  using Send = std::function<void(PushFrameKind, std::string_view)>;

  // At the pusher: listens at a free port of 127.0.0.1. Errors: as errno says.
  static Result<std::unique_ptr<Tunnel>> listen(EventLoop& loop, Send send);
  // At the host: a connection is made to this port of 127.0.0.1 when the first bytes come.
  Tunnel(EventLoop& loop, std::uint16_t port, Send send);
  ~Tunnel();

  std::uint16_t port() const { return port_; }
  // A frame that has come, kTunnel or kTunnelEnd.
  void take(const PushFrame& frame);
  // The session takes no more for now, or does again.
  void pause(bool paused);
  // Bytes that have come and that the connection has not taken. `changed` is called when there are
  // fewer.
  std::size_t unwritten() const { return stream_ ? stream_->unwritten() : 0; }
  void on_written(std::function<void()> changed) { written_ = std::move(changed); }

 private:
  struct Listener;
  struct Call;
  Tunnel(EventLoop& loop, Send send);
  void accept();
  void call();
  void begin();
  void end_here();

  EventLoop& loop_;
  const Send send_;
  std::function<void()> written_;
  Listener* listener_ = nullptr;  // freed when libuv has closed it; null at the host
  Call* call_ = nullptr;          // being made; freed by its callback
  std::uint16_t port_ = 0;
  std::unique_ptr<ByteStream> stream_;
  bool paused_ = false;
  bool here_ = false, there_ = false;  // the connection is open on this side, on the other
};

}  // namespace firn::app
