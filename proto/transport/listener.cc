#include "proto/transport/listener.h"

#include <algorithm>
#include <cerrno>
#include <utility>

#include "proto/transport/io_loop.h"

namespace firn::proto::transport {
namespace {

constexpr int kAcceptedAtOnce = 64;  // then others get their turn
constexpr int kAcceptedBehind = 2;   // between two rests, while those that are open wait too long
constexpr std::uint64_t kRestMs = 100;     // when out of descriptors, memory or connections
constexpr std::size_t kWaitingLeast = 16;  // for headers, where there are few places

}  // namespace

Listener::Listener(IoLoop& loop, Socket socket)
    : loop_(loop),
      socket_(loop.uv(), [this](int, int) { accept_some(); }),
      rest_over_(loop.uv(), [this] { watch(); }) {
  FIRN_CHECK(socket_.open(std::move(socket)));  // a fresh listening socket can be polled
  watch();
}

Listener::~Listener() {
  loop_.shared().connection_count.fetch_sub(waiting_.size());
}

// Stops accepting for a moment: the reason (no descriptors left) would only come again at once.
// Callers wait in the kernel's queue meanwhile.
void Listener::rest() {
  socket_.wait_for(0);
  rest_over_.start(kRestMs);
}

void Listener::accept_some() {
  Shared& shared = loop_.shared();
  const bool overloaded = shared.overloaded();
  for (int i = 0; i < kAcceptedAtOnce; ++i) {
    if (overloaded && i == kAcceptedBehind) return rest();
    const std::uint64_t now_ms = uv_now(loop_.uv());
    const bool full = shared.connection_count.load() >= shared.options.connection_count_max;
    if (full && !shared.admission.may_exchange(now_ms)) return rest();
    SocketAddress remote;
    remote.bytes = sizeof remote.storage;
    Socket socket(::accept4(socket_.fd(), reinterpret_cast<sockaddr*>(&remote.storage),
                            &remote.bytes, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (!socket) {
      if (errno == EAGAIN || errno == EWOULDBLOCK) return;
      if (errno == ECONNABORTED || errno == EINTR) continue;
      return rest();
    }
    if (shared.options.is_proxy(remote.ip())) {
      await_header(std::move(socket), remote);
    } else {
      admit(std::move(socket), remote, full);
    }
  }
}

// Where `full`, only in exchange for another.
void Listener::admit(Socket socket, const SocketAddress& remote, bool full) {
  Shared& shared = loop_.shared();
  const std::string ip = remote.ip();
  const ConnectionId id = shared.new_connection_from(ip);
  auto [place, gives_way] = shared.admission.enter(ip, id, full, uv_now(loop_.uv()));
  if (gives_way) shared.loop_of(*gives_way).mailbox().post(GiveWayOrder{*gives_way});
  if (!place) return;  // turned away
  shared.connection_count.fetch_add(1);
  shared.load_of(id).opened();
  // False only while the transport goes down, and then the socket goes with the order.
  shared.loop_of(id).mailbox().post(AdoptOrder{id, std::move(socket), remote, std::move(*place)});
}

void Listener::await_header(Socket socket, const SocketAddress& proxy) {
  Shared& shared = loop_.shared();
  const std::size_t waiting_max = std::max(shared.options.connection_count_max / 4, kWaitingLeast);
  if (waiting_.size() >= waiting_max)
    return shared.sink.on_proxy_refused({ErrorCode::kProtocol,
                                         "take a connection of the proxy " + proxy.ip(),
                                         "too many wait for their PROXY headers"});
  shared.connection_count.fetch_add(1);
  const auto place = waiting_.emplace(waiting_.end());
  *place = std::make_unique<ProxiedSocket>(
      loop_.uv(), proxy,
      [this, place](Result<SocketAddress> source) { headed(place, std::move(source)); });
  (*place)->begin(std::move(socket));
}

void Listener::headed(Waiting::iterator waiting, Result<SocketAddress> source) {
  Shared& shared = loop_.shared();
  last_ = std::move(*waiting);
  waiting_.erase(waiting);
  shared.connection_count.fetch_sub(1);
  Socket socket = last_->release();
  if (!source) return shared.sink.on_proxy_refused(source.error());
  admit(std::move(socket), *source,
        shared.connection_count.load() >= shared.options.connection_count_max);
}

}  // namespace firn::proto::transport
