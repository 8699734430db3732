// A listening socket: accepts connections and hands each to the loop that it will live on.
#pragma once

#include "proto/transport/polled_socket.h"
#include "proto/transport/sockets.h"
#include "proto/transport/timer.h"

namespace firn::proto::transport {

class IoLoop;

// Lives on its loop's thread.
class Listener {
 public:
  Listener(IoLoop& loop, Socket socket);

 private:
  void accept_some();
  void watch() { socket_.wait_for(UV_READABLE); }
  void rest();

  IoLoop& loop_;
  PolledSocket socket_;
  Timer rest_over_;
};

}  // namespace firn::proto::transport
