// A socket that libuv watches.
#pragma once

#include <uv.h>

#include <functional>

#include "proto/transport/sockets.h"
#include "proto/transport/uv_handle.h"

namespace firn::proto::transport {

// Lives on its loop's thread.
class PolledSocket {
 public:
  // `events` of libuv (UV_READABLE, UV_WRITABLE); below 0, `status` says that the socket is in
  // error, and it is not watched any more.
  using OnPoll = std::function<void(int status, int events)>;

  PolledSocket(uv_loop_t* loop, OnPoll on_poll);
  PolledSocket(const PolledSocket&) = delete;
  PolledSocket& operator=(const PolledSocket&) = delete;

  // Takes `socket` in place of the present one. False: libuv cannot poll it.
  bool open(Socket socket);
  void close();
  // Gives the socket up, for another to watch.
  Socket release();
  int fd() const { return socket_.fd(); }

  // From now on `events`, and no others, are waited for.
  void wait_for(int events);

 private:
  void polled(int status, int events);

  uv_loop_t* const loop_;
  const OnPoll on_poll_;
  Socket socket_;
  UvHandle<uv_poll_t> poll_;  // destroyed before socket_
  int awaited_ = 0;           // events that poll_ waits for
};

}  // namespace firn::proto::transport
