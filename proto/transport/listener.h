// A listening socket: accepts connections and hands each to the loop that it will live on. Which
// one that is, and whether there is a place, depends on where the connection comes from; of those
// that a proxy passes on the proxy's header says it, so they wait here until it has come.
#pragma once

#include <cstddef>
#include <list>
#include <memory>

#include "proto/transport/polled_socket.h"
#include "proto/transport/proxied_socket.h"
#include "proto/transport/sockets.h"
#include "proto/transport/timer.h"

namespace firn::proto::transport {

class IoLoop;

// Lives on its loop's thread.
class Listener {
 public:
  Listener(IoLoop& loop, Socket socket);
  ~Listener();

 private:
  using Waiting = std::list<std::unique_ptr<ProxiedSocket>>;

  void accept_some();
  void admit(Socket socket, const SocketAddress& remote, bool full);
  void await_header(Socket socket, const SocketAddress& proxy);
  void headed(Waiting::iterator waiting, Result<SocketAddress> source);
  void watch() { socket_.wait_for(UV_READABLE); }
  void rest();

  IoLoop& loop_;
  PolledSocket socket_;
  Timer rest_over_;
  Waiting waiting_;                      // for their headers; each counts as a connection
  std::unique_ptr<ProxiedSocket> last_;  // to have waited: it may still be on the stack
};

}  // namespace firn::proto::transport
