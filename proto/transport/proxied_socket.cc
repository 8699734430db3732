#include "proto/transport/proxied_socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string>
#include <utility>

namespace firn::proto::transport {
namespace {

// A proxy sends the header with its first bytes. Section 2 asks for 3 s at least, in which TCP can
// repeat a segment that was lost.
constexpr std::uint64_t kPatienceMs = 5000;

}  // namespace

ProxiedSocket::ProxiedSocket(uv_loop_t* loop, const SocketAddress& proxy, OnSource on_source)
    : proxy_(proxy),
      on_source_(std::move(on_source)),
      socket_(loop, [this](int, int) { read_some(); }),
      patience_(loop, [this] {
        fail(ErrorCode::kProtocol,
             "it did not come within " + std::to_string(kPatienceMs / 1000) + " s");
      }) {}

void ProxiedSocket::begin(Socket socket) {
  if (!socket_.open(std::move(socket)))
    return fail(ErrorCode::kInternal, "libuv cannot poll the socket");
  socket_.wait_for(UV_READABLE);
  patience_.start(kPatienceMs);
  read_some();
}

void ProxiedSocket::read_some() {
  std::array<std::uint8_t, 512> bytes;
  while (header_.wanted() > 0) {
    const ssize_t got =
        ::recv(socket_.fd(), bytes.data(), std::min(bytes.size(), header_.wanted()), 0);
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return fail(ErrorCode::kProtocol, "the connection ended before it");
    const Status taken = header_.take(std::span(bytes).first(static_cast<std::size_t>(got)));
    if (!taken) return fail(taken.error().code, taken.error().detail);
  }
  end(header_.source().value_or(proxy_));
}

void ProxiedSocket::fail(ErrorCode code, std::string why) {
  end(Error{code, "read the PROXY header from " + proxy_.ip(), std::move(why)});
}

void ProxiedSocket::end(Result<SocketAddress> source) {
  socket_.wait_for(0);
  patience_.stop();
  on_source_(std::move(source));
}

}  // namespace firn::proto::transport
