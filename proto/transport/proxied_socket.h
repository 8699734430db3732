// A socket that was accepted from a proxy, until the proxy's header has come (proxy_header.h). TLS
// begins behind it.
#pragma once

#include <functional>
#include <optional>

#include "proto/transport/polled_socket.h"
#include "proto/transport/proxy_header.h"
#include "proto/transport/sockets.h"
#include "proto/transport/timer.h"

namespace firn::proto::transport {

// Lives on its loop's thread.
class ProxiedSocket {
 public:
  // Where the connection came from, or why that is not known. Then the socket is to be taken with
  // release(). Called once; the object must live until that call has returned.
  using OnSource = std::function<void(Result<SocketAddress>)>;

  // `proxy`: the socket's other end.
  ProxiedSocket(uv_loop_t* loop, const SocketAddress& proxy, OnSource on_source);

  // Begins to wait; `on_source` may be called within.
  void begin(Socket socket);
  Socket release() { return socket_.release(); }

 private:
  void read_some();
  void fail(ErrorCode code, std::string why);
  void end(Result<SocketAddress> source);

  const SocketAddress proxy_;
  const OnSource on_source_;
  PolledSocket socket_;
  Timer patience_;
  ProxyHeader header_;
};

}  // namespace firn::proto::transport
