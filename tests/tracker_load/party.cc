#include "tests/tracker_load/party.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

namespace firn::tracker_load {

using proto::transport::Socket;

Result<Socket> connect_from(const std::string& ip, const proto::transport::SocketAddress& where,
                            bool stream) {
  const std::string operation = "connect from " + ip;
  Socket socket(
      ::socket(AF_INET, (stream ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket) return error_from_errno(operation, errno);
  const int one = 1;
  // The port is chosen when it connects, so that one address has them all for each destination.
  (void)::setsockopt(socket.fd(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &one, sizeof one);
  if (stream) (void)::setsockopt(socket.fd(), IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  const auto from = proto::transport::numeric_address(ip, 0);
  if (!from || ::bind(socket.fd(), from->get(), from->bytes) != 0)
    return error_from_errno(operation, errno);
  if (::connect(socket.fd(), where.get(), where.bytes) != 0 && errno != EINPROGRESS)
    return error_from_errno(operation, errno);
  return socket;
}

}  // namespace firn::tracker_load
