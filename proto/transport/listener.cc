#include "proto/transport/listener.h"

#include <cerrno>
#include <utility>

#include "proto/transport/io_loop.h"

namespace firn::proto::transport {
namespace {

constexpr int kAcceptedAtOnce = 64;     // then others get their turn
constexpr std::uint64_t kRestMs = 100;  // when out of descriptors, memory or connections

}  // namespace

Listener::Listener(IoLoop& loop, Socket socket)
    : loop_(loop),
      socket_(loop.uv(), [this](int, int) { accept_some(); }),
      rest_over_(loop.uv(), [this] { watch(); }) {
  FIRN_CHECK(socket_.open(std::move(socket)));  // a fresh listening socket can be polled
  watch();
}

// Stops accepting for a moment: the reason (no descriptors left) would only come again at once.
// Callers wait in the kernel's queue meanwhile.
void Listener::rest() {
  socket_.wait_for(0);
  rest_over_.start(kRestMs);
}

void Listener::accept_some() {
  Shared& shared = loop_.shared();
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    const std::uint64_t now_ms = uv_now(loop_.uv());
    const bool full = shared.connection_count.load() >= shared.options.connection_count_max;
    if (full && !shared.admission.has_stale(now_ms)) return rest();
    SocketAddress remote;
    remote.bytes = sizeof remote.storage;
    Socket socket(::accept4(socket_.fd(), reinterpret_cast<sockaddr*>(&remote.storage),
                            &remote.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (errno == ECONNABORTED || errno == EINTR) continue;
      return rest();
    }
    const std::string ip = remote.ip();
    const ConnectionId id = shared.new_connection_from(ip);
    auto [place, gives_way] = shared.admission.enter(ip, id, full, now_ms);
    if (gives_way) shared.loop_of(*gives_way).mailbox().post(GiveWayOrder{*gives_way});
    if (!place) continue;  // turned away
    shared.connection_count.fetch_add(1);
    // False only while the transport goes down, and then the socket goes with the order.
    shared.loop_of(id).mailbox().post(AdoptOrder{id, std::move(socket), remote, std::move(*place)});
  }
}

}  // namespace firn::proto::transport
