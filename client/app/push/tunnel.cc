#include "client/app/push/tunnel.h"

#include <netinet/in.h>
#include <uv.h>

#include <utility>

namespace firn::app {

struct Tunnel::Listener {
  uv_tcp_t handle;
  Tunnel* owner = nullptr;
  bool waiting = false;  // a connection is to be accepted
};

struct Tunnel::Call {
  uv_connect_t request;
  Tunnel* owner = nullptr;
};

Tunnel::Tunnel(EventLoop& loop, Send send) : loop_(loop), send_(std::move(send)) {}

Tunnel::Tunnel(EventLoop& loop, std::uint16_t port, Send send) : Tunnel(loop, std::move(send)) {
  port_ = port;
}

Tunnel::~Tunnel() {
  if (call_) call_->owner = nullptr;
  if (!listener_) return;
  listener_->owner = nullptr;
  uv_close(reinterpret_cast<uv_handle_t*>(&listener_->handle),
           [](uv_handle_t* handle) { delete static_cast<Listener*>(handle->data); });
}

Result<std::unique_ptr<Tunnel>> Tunnel::listen(EventLoop& loop, Send send) {
  std::unique_ptr<Tunnel> tunnel(new Tunnel(loop, std::move(send)));
  auto* const listener = tunnel->listener_ = new Listener;
  listener->owner = tunnel.get();
  FIRN_CHECK(uv_tcp_init(loop.uv(), &listener->handle) == 0);
  listener->handle.data = listener;
  sockaddr_in at{};
  (void)uv_ip4_addr("127.0.0.1", 0, &at);
  const auto waits = [](uv_stream_t* stream, int status) {
    auto* const own = static_cast<Listener*>(stream->data);
    if (status != 0 || !own->owner) return;
    own->waiting = true;
    own->owner->accept();
  };
  int error = uv_tcp_bind(&listener->handle, reinterpret_cast<const sockaddr*>(&at), 0);
  if (error == 0) error = uv_listen(reinterpret_cast<uv_stream_t*>(&listener->handle), 1, waits);
  int size = sizeof at;
  if (error == 0)
    error = uv_tcp_getsockname(&listener->handle, reinterpret_cast<sockaddr*>(&at), &size);
  if (error != 0) return error_from_errno("listen for a tunnel", -error);
  tunnel->port_ = ntohs(at.sin_port);
  return tunnel;
}

void Tunnel::accept() {
  if (here_ || there_ || !std::exchange(listener_->waiting, false)) return;
  stream_ = std::make_unique<ByteStream>(loop_, ByteStream::Kind::kTcp);
  if (uv_accept(reinterpret_cast<uv_stream_t*>(&listener_->handle), stream_->uv()) != 0)
    return stream_.reset();
  here_ = there_ = true;
  begin();
}

void Tunnel::call() {
  here_ = there_ = true;
  stream_ = std::make_unique<ByteStream>(loop_, ByteStream::Kind::kTcp);
  sockaddr_in to{};
  (void)uv_ip4_addr("127.0.0.1", port_, &to);
  call_ = new Call{{}, this};
  call_->request.data = call_;
  const auto done = [](uv_connect_t* request, int status) {
    const std::unique_ptr<Call> call(static_cast<Call*>(request->data));
    if (!call->owner) return;
    call->owner->call_ = nullptr;
    status == 0 ? call->owner->begin() : call->owner->end_here();
  };
  const int error = uv_tcp_connect(&call_->request, reinterpret_cast<uv_tcp_t*>(stream_->uv()),
                                   reinterpret_cast<const sockaddr*>(&to), done);
  if (error == 0) return;
  delete std::exchange(call_, nullptr);
  end_here();
}

void Tunnel::begin() {
  stream_->pause(paused_);
  stream_->on_written([this] {
    if (written_) written_();
  });
  stream_->read([this](std::string_view bytes) { send_(PushFrameKind::kTunnel, bytes); },
                [this] { end_here(); });
}

void Tunnel::end_here() {
  if (call_) std::exchange(call_, nullptr)->owner = nullptr;
  stream_.reset();
  if (std::exchange(here_, false)) send_(PushFrameKind::kTunnelEnd, {});
  if (listener_) accept();
}

void Tunnel::take(const PushFrame& frame) {
  if (!here_ && !there_) {  // the other side begins
    if (listener_) return;
    if (frame.kind == PushFrameKind::kTunnelEnd) return send_(PushFrameKind::kTunnelEnd, {});
    call();
  }
  if (frame.kind == PushFrameKind::kTunnelEnd) {
    there_ = false;
    // What has come is written before the end; this side's own answer follows it.
    return here_ && !call_ ? stream_->end_writing() : end_here();
  }
  if (here_ && there_ && stream_) stream_->write(frame.payload);
}

void Tunnel::pause(bool paused) {
  paused_ = paused;
  if (stream_ && !call_) stream_->pause(paused);
}

}  // namespace firn::app
