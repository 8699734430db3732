#include "proto/transport/listener.h"

#include <cerrno>
#include <utility>

#include "proto/transport/io_loop.h"

namespace firn::proto::transport {
namespace {

constexpr int kAcceptedAtOnce = 64;     // then others get their turn
constexpr std::uint64_t kRestMs = 100;  // when out of descriptors, memory or connections

}  // namespace

Listener::Listener(IoLoop& loop, Socket socket) : loop_(loop), socket_(std::move(socket)) {
  poll_ = make_uv_handle<uv_poll_t>(
      this, [this](uv_poll_t* handle) { return uv_poll_init(loop_.uv(), handle, socket_.fd()); });
  timer_ = make_uv_handle<uv_timer_t>(
      this, [this](uv_timer_t* handle) { return uv_timer_init(loop_.uv(), handle); });
  FIRN_CHECK(poll_ && timer_);  // a fresh listening socket can be polled
  watch();
}

void Listener::watch() {
  uv_poll_start(poll_.get(), UV_READABLE, [](uv_poll_t* handle, int, int) {
    if (handle->data != nullptr) static_cast<Listener*>(handle->data)->accept_some();
  });
}

// Stops accepting for a moment: the reason (no descriptors left) would only come again at once.
// Callers wait in the kernel's queue meanwhile.
void Listener::rest() {
  uv_poll_stop(poll_.get());
  uv_timer_start(
      timer_.get(),
      [](uv_timer_t* handle) {
        if (handle->data != nullptr) static_cast<Listener*>(handle->data)->watch();
      },
      kRestMs, 0);
}

void Listener::accept_some() {
  Shared& shared = loop_.shared();
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    if (shared.connection_count.load() >= shared.options.connection_count_max) return rest();
    SocketAddress remote;
    remote.bytes = sizeof remote.storage;
    Socket socket(::accept4(socket_.fd(), reinterpret_cast<sockaddr*>(&remote.storage),
                            &remote.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (errno == ECONNABORTED || errno == EINTR) continue;
      return rest();
    }
    auto place = shared.admission.enter(remote.ip());
    if (!place) continue;  // turned away
    shared.connection_count.fetch_add(1);
    const ConnectionId id = shared.new_connection();
    // False only while the transport goes down, and then the socket goes with the order.
    shared.loop_of(id).mailbox().post(AdoptOrder{id, std::move(socket), remote, std::move(*place)});
  }
}

}  // namespace firn::proto::transport
