#include "proto/transport/sockets.h"

#include <arpa/inet.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>

#include "proto/base/stage_times.h"
#include "proto/transport/name_question.h"
#include "proto/transport/source.h"

namespace firn::proto::transport {
namespace {

constexpr int kBacklog = 512;
// Nothing else is done meanwhile, and a signal to stop is heeded after it.
constexpr std::chrono::milliseconds kNameWithin{3000};

struct AddrinfoFree {
  void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

void set(int fd, int level, int option, int value) {
  const StageScope stage(Stage::kNetwork);
  (void)::setsockopt(fd, level, option, &value, sizeof value);
}

// The error a person sees when listening fails.
Error listen_error(const Address& where, int error_number) {
  const std::string operation = "listen on " + to_text(Address{{}, where.host, where.port});
  switch (error_number) {
    case EADDRINUSE:
      return {ErrorCode::kExists, operation,
              "port " + std::to_string(where.port) +
                  " is in use by another program; stop that one or listen on another port"};
    case EADDRNOTAVAIL:
      return {ErrorCode::kBadInput, operation, "this machine has no such address"};
    case EACCES:
    case EPERM:
      return {ErrorCode::kBadInput, operation,
              "not allowed; ports below 1024 need privileges, choose a higher one"};
    default:
      return error_from_errno(operation, error_number);
  }
}

bool is_any(const Address& where) {
  return where.host.empty() || where.host == "*" || where.host == "::" || where.host == "0.0.0.0";
}

Result<Listening> listen_at(const Address& where, const SocketAddress& address, bool dual_stack,
                            const std::string& interface) {
  Socket socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return listen_error(where, errno);
  set(socket.fd(), SOL_SOCKET, SO_REUSEADDR, 1);
  if (address.storage.ss_family == AF_INET6)
    set(socket.fd(), IPPROTO_IPV6, IPV6_V6ONLY, dual_stack ? 0 : 1);
  if (!interface.empty() && !bind_to_interface(socket.fd(), interface)) {
    // An address of the interface does without.
    if (is_any(where)) return listen_error(where, errno);
  }
  if (::bind(socket.fd(), address.get(), address.bytes) != 0 ||
      ::listen(socket.fd(), kBacklog) != 0)
    return listen_error(where, errno);
  SocketAddress bound;
  bound.bytes = sizeof bound.storage;
  if (::getsockname(socket.fd(), reinterpret_cast<sockaddr*>(&bound.storage), &bound.bytes) != 0)
    return listen_error(where, errno);
  return Listening{std::move(socket), bound};
}

}  // namespace

void Socket::reset() {
  if (fd_ >= 0) ::close(fd_);
  fd_ = -1;
}

SocketAddress SocketAddress::from(const sockaddr* address, socklen_t bytes) {
  SocketAddress result;
  result.bytes = bytes < sizeof result.storage ? bytes : sizeof result.storage;
  std::memcpy(&result.storage, address, result.bytes);
  return result;
}

std::string SocketAddress::ip() const {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage.ss_family == AF_INET6) {
    sockaddr_in6 six;
    std::memcpy(&six, &storage, sizeof six);
    if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
      ::inet_ntop(AF_INET, &six.sin6_addr.s6_addr[12], text.data(), text.size());
    } else {
      ::inet_ntop(AF_INET6, &six.sin6_addr, text.data(), text.size());
    }
  } else {
    sockaddr_in four;
    std::memcpy(&four, &storage, sizeof four);
    ::inet_ntop(AF_INET, &four.sin_addr, text.data(), text.size());
  }
  return text.data();
}

std::uint16_t SocketAddress::port() const {
  // sin_port and sin6_port stand at the same place.
  sockaddr_in four;
  std::memcpy(&four, &storage, sizeof four);
  return ntohs(four.sin_port);
}

std::string SocketAddress::text() const {
  return to_text(Address{{}, ip(), port()});
}

std::optional<SocketAddress> numeric_address(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV;
  addrinfo* list = nullptr;
  if (::getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list) != 0)
    return std::nullopt;
  const std::unique_ptr<addrinfo, AddrinfoFree> owner(list);
  return SocketAddress::from(list->ai_addr, list->ai_addrlen);
}

Result<Listening> open_listening(const Address& where) {
  return open_listening(where, Source());
}

Result<Listening> open_listening(const Address& where, const Source& source) {
  const std::string& interface = source.interface();
  if (is_any(where) && !interface.empty()) {
    const Socket probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (!probe || !bind_to_interface(probe.fd(), interface))
      return open_listening(Address{{}, source.first_address()->ip(), where.port}, source);
  }
  const bool any = where.host.empty() || where.host == "*";
  if (any || where.host == "::") {
    auto both = listen_at(where, *numeric_address("::", where.port), true, interface);
    // A machine without IPv6 still has IPv4.
    if (any && !both && both.error().code != ErrorCode::kExists)
      return listen_at(where, *numeric_address("0.0.0.0", where.port), false, interface);
    return both;
  }
  if (const auto address = numeric_address(where.host, where.port))
    return listen_at(where, *address, false, interface);

  const auto named = look_up(where.host, where.port, kNameWithin);
  if (!named)
    return Error{ErrorCode::kBadInput, "listen on " + to_text(Address{{}, where.host, where.port}),
                 named.error().detail};
  return listen_at(where, named->front(), false, interface);
}

Socket begin_connect(const SocketAddress& where, const Source& source) {
  Socket socket(::socket(where.storage.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return socket;
  const bool bound = source.bind(socket.fd(), where.storage.ss_family);
  if (!bound || (::connect(socket.fd(), where.get(), where.bytes) != 0 && errno != EINPROGRESS)) {
    const int error_number = errno;
    socket.reset();
    errno = error_number;
  }
  return socket;
}

int connect_outcome(int fd) {
  int error_number = 0;
  socklen_t bytes = sizeof error_number;
  if (::getsockopt(fd, SOL_SOCKET, SO_ERROR, &error_number, &bytes) != 0) return errno;
  return error_number;
}

std::size_t waiting_bytes(int fd) {
  const StageScope stage(Stage::kNetwork);
  int bytes = 0;
  if (::ioctl(fd, SIOCINQ, &bytes) != 0 || bytes < 0) return 0;
  return static_cast<std::size_t>(bytes);
}

bool discard_incoming(int fd, std::size_t bytes_max) {
  const StageScope stage(Stage::kNetwork);
  for (std::size_t left = bytes_max; left > 0;) {
    // MSG_TRUNC on TCP discards without copying (tcp(7)).
    const ssize_t got = ::recv(fd, nullptr, left, MSG_TRUNC | MSG_DONTWAIT);
    if (got <= 0) return got < 0 && (errno == EAGAIN || errno == EINTR);
    left -= static_cast<std::size_t>(got);
  }
  return true;
}

void acknowledge_calmly(int fd) {
  set(fd, IPPROTO_TCP, TCP_QUICKACK, 0);
}

void tune(int fd, int notsent_lowat_bytes) {
  set(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  if (notsent_lowat_bytes > 0) set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, notsent_lowat_bytes);
}

void probe_when_idle(int fd, std::uint64_t silence_ms) {
  constexpr int kProbes = 3;
  const int seconds = static_cast<int>(std::min<std::uint64_t>(silence_ms / 1000, 3600));
  set(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set(fd, IPPROTO_TCP, TCP_KEEPIDLE, std::max(seconds / 2, 1));
  set(fd, IPPROTO_TCP, TCP_KEEPINTVL, std::max(seconds / (2 * kProbes), 1));
  set(fd, IPPROTO_TCP, TCP_KEEPCNT, kProbes);
}

Acknowledgement acknowledgement(int fd) {
  const StageScope stage(Stage::kNetwork);
  tcp_info info{};
  socklen_t bytes = sizeof info;
  if (::getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &bytes) != 0) return {};
  return {info.tcpi_unacked > 0 || info.tcpi_probes > 0, info.tcpi_last_ack_recv};
}

}  // namespace firn::proto::transport
