// A listening socket: accepts connections and hands each to the loop that it will live on.
#pragma once

#include <uv.h>

#include "proto/transport/sockets.h"
#include "proto/transport/uv_handle.h"

namespace firn::proto::transport {

class IoLoop;

// Lives on its loop's thread.
class Listener {
 public:
  Listener(IoLoop& loop, Socket socket);

 private:
  void accept_some();
  void watch();
  void rest();

  IoLoop& loop_;
  Socket socket_;
  UvHandle<uv_poll_t> poll_;    // before the socket is closed
  UvHandle<uv_timer_t> timer_;  // ends a rest
};

}  // namespace firn::proto::transport
