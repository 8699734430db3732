// A TLS client made of OpenSSL alone, for what no transport of ours would do; and a server that
// answers.
#pragma once

#include <doctest/doctest.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <sys/socket.h>

#include <cerrno>
#include <memory>
#include <string>

#include "proto/transport/identity_impl.h"
#include "proto/transport/sockets.h"
#include "proto/transport/tls.h"
#include "tests/transport/recorder.h"

namespace firn::proto::transport::test {

// Makes a call on a blocking socket again while it is interrupted: by a signal, or by what the
// kernel does for libuv's io_uring on the thread that made the transport.
template <typename Call>
auto uninterrupted(Call call) {
  decltype(call()) result{};
  do {
    errno = 0;
    result = call();
  } while (result < 0 && errno == EINTR);
  return result;
}

// A blocking TCP connection, with a timeout so that a bug fails the test and does not hang it.
inline Socket plain_connection(const Address& where) {
  const SocketAddress address = *numeric_address(where.host, where.port);
  Socket socket(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const timeval patience{60, 0};
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  REQUIRE(::connect(socket.fd(), address.get(), address.bytes) == 0);
  return socket;
}

// Reads until the other side closes. False if it does not.
inline bool ends(const Socket& socket) {
  char buffer[4096];
  ssize_t got = 0;
  const auto receive = [&] { return ::recv(socket.fd(), buffer, sizeof buffer, 0); };
  while ((got = uninterrupted(receive)) > 0) {
  }
  return got == 0 || errno == ECONNRESET;
}

// Writing to a server that has closed must not kill the test. Only for this thread and while it
// lasts: the transport has to look after its own threads.
class WithoutSigpipe {
 public:
  WithoutSigpipe() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~WithoutSigpipe() {
    const timespec at_once{};
    sigtimedwait(&pipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_;
  sigset_t before_;
};

// A TLS client that does what the protocol asks, until a test changes something.
struct Stranger {
  explicit Stranger(const Address& where) : socket(plain_connection(where)) {
    context.reset(SSL_CTX_new(TLS_client_method()));
    const unsigned char alpn[] =
        "\x06"
        "firn/1";
    SSL_CTX_set_alpn_protos(context.get(), alpn, sizeof alpn - 1);
  }
  void present(const EvpKeyPtr& key, const X509Ptr& certificate) {
    REQUIRE(SSL_CTX_use_certificate(context.get(), certificate.get()) == 1);
    REQUIRE(SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1);
  }
  void present(const Identity& identity) {
    present(identity.impl().key, identity.impl().certificate);
  }
  // Whether an Answering server takes this client. In TLS 1.3 the client is done before the server
  // has judged it, so the verdict is an answer to a frame, or the end.
  bool is_accepted() {
    const WithoutSigpipe guard;
    session.reset(SSL_new(context.get()));
    SSL_set_fd(session.get(), socket.fd());
    const std::string frame("\0\0\0\1x", 5);
    char byte = 0;
    const bool accepted =
        uninterrupted([&] { return SSL_connect(session.get()); }) == 1 &&
        SSL_write(session.get(), frame.data(), static_cast<int>(frame.size())) > 0 &&
        uninterrupted([&] { return SSL_read(session.get(), &byte, 1); }) == 1;
    ERR_clear_error();
    return accepted;
  }

  Socket socket;
  std::unique_ptr<SSL_CTX, TlsFree> context;
  std::unique_ptr<SSL, TlsFree> session;
};

// Answers every frame with one.
struct Answering : Node {
  explicit Answering(const Options& options = {}) {
    transport.reset();
    recorder.frame_hook = [this](ConnectionId id, std::span<const std::uint8_t>) -> Status {
      transport->send(id, frame_of(Bytes{1}));
      return Done{};
    };
    transport = Transport::start(identity, recorder, options).value();
  }
};

}  // namespace firn::proto::transport::test
