#include "proto/transport/polled_socket.h"

#include <utility>

#include "proto/base/stage_times.h"

namespace firn::proto::transport {

PolledSocket::PolledSocket(uv_loop_t* loop, OnPoll on_poll)
    : loop_(loop), on_poll_(std::move(on_poll)) {}

bool PolledSocket::open(Socket socket) {
  close();
  socket_ = std::move(socket);
  poll_ = make_uv_handle<uv_poll_t>(
      this, [this](uv_poll_t* handle) { return uv_poll_init(loop_, handle, socket_.fd()); });
  return poll_ != nullptr;
}

void PolledSocket::close() {
  poll_.reset();
  socket_.reset();
  awaited_ = 0;
}

Socket PolledSocket::release() {
  Socket released = std::move(socket_);
  close();
  return released;
}

void PolledSocket::wait_for(int events) {
  if (events == awaited_) return;
  awaited_ = events;
  if (events == 0) {
    uv_poll_stop(poll_.get());
    return;
  }
  uv_poll_start(poll_.get(), events, [](uv_poll_t* handle, int status, int polled) {
    if (handle->data != nullptr) static_cast<PolledSocket*>(handle->data)->polled(status, polled);
  });
}

void PolledSocket::polled(int status, int events) {
  const StageScope stage(Stage::kSockets);
  if (status < 0) awaited_ = 0;  // libuv has stopped
  on_poll_(status, events);
}

}  // namespace firn::proto::transport
