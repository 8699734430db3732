// TLS sessions between two ends of a socket, without an I/O loop.
#include "proto/transport/tls.h"

#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "proto/transport/identity_impl.h"
#include "proto/transport/sockets.h"

namespace firn::proto::transport::test {
namespace {

using Side = TlsContext::Side;

std::array<int, 2> local_pair() {
  std::array<int, 2> fds = {};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()) == 0);
  return fds;
}

std::array<int, 2> tcp_pair() {
  const Socket listener(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t bytes = sizeof where;
  auto* const address = reinterpret_cast<sockaddr*>(&where);
  REQUIRE(::bind(listener.fd(), address, bytes) == 0);
  REQUIRE(::listen(listener.fd(), 1) == 0);
  REQUIRE(::getsockname(listener.fd(), address, &bytes) == 0);
  const int from = ::socket(AF_INET, SOCK_STREAM, 0);
  REQUIRE(::connect(from, address, bytes) == 0);
  const std::array<int, 2> fds = {from, ::accept(listener.fd(), nullptr, nullptr)};
  for (const int fd : fds) {
    REQUIRE(::fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
    tune(fd, 0);
  }
  return fds;
}

// Two ends that change their keys after each record.
class Ends {
 public:
  explicit Ends(const std::array<int, 2>& fds = local_pair()) {
    for (std::size_t i = 0; i < 2; ++i) {
      sockets_[i] = Socket(fds[i]);
      const int bytes = 4096;
      ::setsockopt(fds[i], SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
      const Side side = i == 0 ? Side::kClient : Side::kServer;
      sessions.push_back(context_.session(side, fds[i], std::nullopt).value());
    }
    bool done = false;
    for (int turn = 0; turn < 20 && !done; ++turn) {
      const TlsOutcome first = sessions[0].handshake().outcome;
      done = sessions[1].handshake().outcome == TlsOutcome::kDone && first == TlsOutcome::kDone;
    }
    REQUIRE(done);
  }

  // Sends records of `bytes` each until the socket is full; says how many went.
  std::size_t fill(std::size_t end, std::size_t bytes) {
    const std::vector<std::uint8_t> record(bytes, 7);
    for (std::size_t sent = 0;; ++sent) {
      const TlsOutcome outcome = sessions[end].write(record).outcome;
      if (outcome == TlsOutcome::kWantWrite) return sent;
      REQUIRE(outcome == TlsOutcome::kDone);
    }
  }
  // Reads what is there. kWantRead: all of it.
  TlsOutcome drain(std::size_t end, std::size_t& bytes) {
    std::array<std::uint8_t, 4096> into = {};
    sessions[end].look_again();
    for (;;) {
      const TlsProgress progress = sessions[end].read(into);
      if (progress.outcome != TlsOutcome::kDone) return progress.outcome;
      bytes += progress.bytes;
    }
  }

  // Come, and not read yet.
  bool anything_comes(std::size_t end, int milliseconds) const {
    pollfd readable{sockets_[end].fd(), POLLIN, 0};
    return ::poll(&readable, 1, milliseconds) > 0;
  }

  std::vector<TlsSession> sessions;

 private:
  std::array<Socket, 2> sockets_;
  TlsContext context_ = TlsContext::make(Identity::generate().value(), 1).value();
};

}  // namespace

// Among these sizes are some with which the last that does not fit is a change of the key.
TEST_CASE("two ends with full sockets that change their keys at once read what has come") {
  for (std::size_t bytes = 1; bytes < 200; bytes += 3) {
    CAPTURE(bytes);
    Ends ends;
    const std::array<std::size_t, 2> sent = {ends.fill(0, bytes), ends.fill(1, bytes)};
    const std::vector<std::uint8_t> last(bytes, 7);
    std::array<std::size_t, 2> came = {};
    for (std::size_t end = 0; end < 2; ++end)
      REQUIRE(ends.drain(end, came[end]) == TlsOutcome::kWantRead);
    for (std::size_t end = 0; end < 2; ++end)
      REQUIRE(ends.sessions[end].write(last).outcome == TlsOutcome::kDone);
    for (std::size_t end = 0; end < 2; ++end) {
      REQUIRE(ends.drain(end, came[end]) == TlsOutcome::kWantRead);
      CHECK(came[end] == (sent[1 - end] + 1) * bytes);
    }
  }
}

// OpenSSL would go on for as long as such messages come.
TEST_CASE("a read ends soon though nothing comes but changes of the key") {
  const std::array<int, 2> fds = local_pair();
  const Socket near(fds[0]), far(fds[1]);
  const int much = 8 << 20;
  ::setsockopt(near.fd(), SOL_SOCKET, SO_SNDBUF, &much, sizeof much);
  const Identity identity = Identity::generate().value();
  const TlsContext context = TlsContext::make(identity, 1 << 20).value();
  TlsSession session = context.session(Side::kServer, far.fd(), std::nullopt).value();
  const std::unique_ptr<SSL_CTX, TlsFree> plain(SSL_CTX_new(TLS_client_method()));
  const unsigned char alpn[] = {6, 'f', 'i', 'r', 'n', '/', '1'};
  SSL_CTX_set_alpn_protos(plain.get(), alpn, sizeof alpn);
  SSL_CTX_use_certificate(plain.get(), identity.impl().certificate.get());
  SSL_CTX_use_PrivateKey(plain.get(), identity.impl().key.get());
  const std::unique_ptr<SSL, TlsFree> stranger(SSL_new(plain.get()));
  SSL_set_fd(stranger.get(), near.fd());
  while (SSL_connect(stranger.get()) != 1) (void)session.handshake();
  while (session.handshake().outcome != TlsOutcome::kDone) continue;
  const std::uint64_t before = session.received_bytes();
  int changes = 0;
  while (SSL_key_update(stranger.get(), SSL_KEY_UPDATE_NOT_REQUESTED) == 1 &&
         SSL_do_handshake(stranger.get()) == 1)
    ++changes;
  std::array<std::uint8_t, 100> into = {};
  session.look_again();
  CHECK(session.read(into).outcome == TlsOutcome::kFailed);
  CHECK(session.error("read").message() == "read: TLS: messages of TLS come, and little data");
  // What was read ahead at once, of much more.
  CHECK(session.received_bytes() - before <= 5 * kTlsRecordBytes);
  CHECK(27 * changes > 6 * static_cast<int>(kTlsRecordBytes));
}

// The kernel gives up waiting for the rest after a fifth of a second, which a busy machine may take
// between two of these lines: so it must be seen once.
TEST_CASE("a record that another follows at once waits for it in the kernel") {
  const std::vector<std::uint8_t> record(100, 7);
  bool waited = false;
  for (int turn = 0; turn < 20 && !waited; ++turn) {
    Ends ends(tcp_pair());
    std::size_t before = 0, came = 0;
    REQUIRE(ends.drain(1, before) == TlsOutcome::kWantRead);
    REQUIRE(ends.sessions[0].write(record, true).outcome == TlsOutcome::kDone);
    waited = !ends.anything_comes(1, 20);
    REQUIRE(ends.sessions[0].write(record).outcome == TlsOutcome::kDone);
    while (came < 2 * record.size()) REQUIRE(ends.drain(1, came) == TlsOutcome::kWantRead);
  }
  CHECK(waited);
}

}  // namespace firn::proto::transport::test
