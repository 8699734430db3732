// Strangers that speak something else: rubbish, older TLS, no certificate, another application.
// They are refused, and the listener serves the next one.
#include <doctest/doctest.h>
#include <linux/filter.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <string>

#include "tests/transport/stranger.h"

namespace firn::proto::transport::test {
namespace {

using namespace std::chrono_literals;

struct Made {
  EvpKeyPtr key;
  X509Ptr certificate;
};
// A certificate for `key`, signed with `signer`.
Made certificate_for(EvpKeyPtr key, EVP_PKEY* signer, const EVP_MD* digest) {
  Made made{std::move(key), X509Ptr(X509_new())};
  X509* x = made.certificate.get();
  X509_set_version(x, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
  X509_gmtime_adj(X509_getm_notBefore(x), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x), 3600);
  X509_set_pubkey(x, made.key.get());
  REQUIRE(X509_sign(x, signer, digest) > 0);
  return made;
}

void check_still_works(const Address& where) {
  Node client;
  CHECK(client.recorder.wait_open(client.transport->connect(where)));
}

TEST_CASE("a stranger's first frame is short where the user says so, later ones are not") {
  Options options;
  options.first_frame_bytes_max = 100;
  Answering server(options);
  const Address where = server.listen();
  Node client;
  const auto ends_after = [&](std::size_t first, std::size_t second) {
    const ConnectionId id = client.transport->connect(where);
    REQUIRE(client.recorder.wait_open(id));
    client.transport->send(id, frame_of(Bytes(first)));
    client.transport->send(id, frame_of(Bytes(second)));
    REQUIRE(client.recorder.wait([id](const auto& all) {
      return !all.at(id).closed.empty() || all.at(id).frames.size() == 2;
    }));
    return !client.recorder.connection(id).closed.empty();
  };
  CHECK_FALSE(ends_after(100, 5000));
  CHECK(ends_after(101, 1));
}

TEST_CASE("a client that does all the protocol asks is accepted") {
  Answering server;
  const Address where = server.listen();
  Stranger stranger(where);
  stranger.present(Identity::generate().value());
  CHECK(stranger.is_accepted());
  CHECK(SSL_version(stranger.session.get()) == TLS1_3_VERSION);
  CHECK(std::string(SSL_get_cipher_name(stranger.session.get())) == "TLS_AES_128_GCM_SHA256");
}

TEST_CASE("a connection on which nothing comes ends in order after the idle timeout") {
  Options options;
  options.idle_timeout = 50ms;
  Answering server(options);
  Stranger stranger(server.listen());
  stranger.present(Identity::generate().value());
  REQUIRE(stranger.is_accepted());
  char byte = 0;
  int read = 0;
  do {
    read = uninterrupted([&] { return SSL_read(stranger.session.get(), &byte, 1); });
  } while (read > 0);  // the answer's other bytes
  CHECK(SSL_get_error(stranger.session.get(), read) == SSL_ERROR_ZERO_RETURN);
  ERR_clear_error();
}

TEST_CASE("rubbish on the listening port is thrown out and does no harm") {
  Answering server;
  const Address where = server.listen();
  std::mt19937_64 random(1);
  for (const std::size_t bytes : {1, 5, 100, 5000, 200'000}) {
    const Socket socket = plain_connection(where);
    Bytes rubbish = random_bytes(random, bytes);
    rubbish[0] = 'G';  // certainly no TLS record
    (void)::send(socket.fd(), rubbish.data(), rubbish.size(), MSG_NOSIGNAL);
    if (bytes < 5) ::shutdown(socket.fd(), SHUT_WR);  // less than a record header: still waiting
    CHECK(ends(socket));
  }
  CHECK(server.recorder.count() == 0);
  check_still_works(where);
}

TEST_CASE("a connection that says nothing is given up after the connect timeout") {
  Options options;
  options.connect_timeout = std::chrono::milliseconds(50);
  Node server(options);
  const Socket socket = plain_connection(server.listen());
  CHECK(ends(socket));
  CHECK(server.recorder.count() == 0);
}

TEST_CASE("a listener that runs out of descriptors rests, and accepts when there are some again") {
  Options options;
  options.connect_timeout = std::chrono::milliseconds(50);
  Node server(options);
  const Address where = server.listen();
  const SocketAddress address = *numeric_address(where.host, where.port);
  const Socket socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit none{0, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &none) == 0);
  const int connected = ::connect(socket.fd(), address.get(), address.bytes);
  // No connection is accepted, so none is given up after the timeout either.
  const timeval patience{0, 300'000};
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  const bool ended_early = ends(socket);
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  REQUIRE(connected == 0);
  CHECK_FALSE(ended_early);
  const timeval long_patience{60, 0};
  ::setsockopt(socket.fd(), SOL_SOCKET, SO_RCVTIMEO, &long_patience, sizeof long_patience);
  CHECK(ends(socket));
}

TEST_CASE("strangers are refused") {
  Answering server;
  const Address where = server.listen();
  Stranger stranger(where);
  SUBCASE("a client without a certificate") {}
  SUBCASE("a client that speaks TLS 1.2") {
    stranger.present(Identity::generate().value());
    SSL_CTX_set_max_proto_version(stranger.context.get(), TLS1_2_VERSION);
  }
  SUBCASE("a client without ALPN") {
    stranger.present(Identity::generate().value());
    SSL_CTX_set_alpn_protos(stranger.context.get(), nullptr, 0);
  }
  SUBCASE("a client of another protocol") {
    stranger.present(Identity::generate().value());
    const unsigned char alpn[] =
        "\x02"
        "h2";
    SSL_CTX_set_alpn_protos(stranger.context.get(), alpn, sizeof alpn - 1);
  }
  SUBCASE("a client with a key of another kind") {
    EvpKeyPtr key(EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256"));
    EVP_PKEY* signer = key.get();
    const Made made = certificate_for(std::move(key), signer, EVP_sha256());
    stranger.present(made.key, made.certificate);
  }
  SUBCASE("a client whose certificate another key has signed") {
    const Identity other = Identity::generate().value();
    const Made made = certificate_for(EvpKeyPtr(EVP_PKEY_Q_keygen(nullptr, nullptr, "ED25519")),
                                      other.impl().key.get(), nullptr);
    stranger.present(made.key, made.certificate);
  }
  SUBCASE("a client with a chain of certificates") {
    stranger.present(Identity::generate().value());
    const Identity other = Identity::generate().value();
    REQUIRE(SSL_CTX_add1_chain_cert(stranger.context.get(), other.impl().certificate.get()) == 1);
  }
  CHECK_FALSE(stranger.is_accepted());
  CHECK(server.recorder.count() == 0);
  check_still_works(where);
}

TEST_CASE("a server of another protocol is refused by the client") {
  // A plain TLS 1.3 server with an Ed25519 certificate, but without "firn/1".
  Node client;
  const WithoutSigpipe guard;
  const Identity identity = Identity::generate().value();
  const Listening listening = open_listening(Address{{}, "127.0.0.1", 0}).value();
  const ConnectionId out =
      client.transport->connect(Address{{}, "127.0.0.1", listening.address.port()});
  SSL_CTX* raw = SSL_CTX_new(TLS_server_method());
  const std::unique_ptr<SSL_CTX, TlsFree> context(raw);
  SSL_CTX_use_certificate(raw, identity.impl().certificate.get());
  SSL_CTX_use_PrivateKey(raw, identity.impl().key.get());
  Socket accepted;
  while (!accepted) accepted = Socket(::accept(listening.socket.fd(), nullptr, nullptr));
  const std::unique_ptr<SSL, TlsFree> session(SSL_new(raw));
  SSL_set_fd(session.get(), accepted.fd());
  (void)uninterrupted([&] { return SSL_accept(session.get()); });
  ERR_clear_error();
  REQUIRE(client.recorder.wait_closed(out));
  CHECK_FALSE(client.recorder.connection(out).open);
  CHECK(client.recorder.ending(out).code == ErrorCode::kProtocol);
  CHECK(client.recorder.ending(out).message().find("firn/1") != std::string::npos);
}

// As if its machine, or the network to it, were gone: its kernel answers nothing any more.
void vanish(const Socket& socket) {
  sock_filter drop_all = BPF_STMT(BPF_RET | BPF_K, 0);
  const sock_fprog program{1, &drop_all};
  REQUIRE(::setsockopt(socket.fd(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0);
}

TEST_CASE("a peer that is gone without a word is noticed") {
  Options options;
  options.silence_timeout = 1s;
  Answering server(options);
  const Address where = server.listen();
  Stranger stranger(where);
  stranger.present(Identity::generate().value());
  REQUIRE(stranger.is_accepted());
  const ConnectionId id = server.recorder.wait_first();
  vanish(stranger.socket);
  SUBCASE("while something is sent to it") {
    server.transport->send(id, frame_of(Bytes(1000, 1)));
    REQUIRE(server.recorder.wait_closed(id));
    CHECK(server.recorder.ending(id).message().find("gone without a goodbye") != std::string::npos);
  }
  SUBCASE("while nothing is") {
    REQUIRE(server.recorder.wait_closed(id));
  }
  CHECK(server.recorder.ending(id).code != ErrorCode::kProtocol);  // the network's fault
}

TEST_CASE("a peer that reads nothing, and is there, is not taken to be gone") {
  Options options;
  options.silence_timeout = 1s;
  Answering server(options);
  const Address where = server.listen();
  Stranger stranger(where);
  stranger.present(Identity::generate().value());
  REQUIRE(stranger.is_accepted());
  const ConnectionId id = server.recorder.wait_first();
  // More than both kernels hold: the stranger's window closes, and its kernel answers probes.
  for (int i = 0; i < 7; ++i) server.transport->send(id, frame_of(Bytes(1 << 20, 1)));
  // Another connection's end shows that the time has passed.
  Stranger lost(where);
  lost.present(Identity::generate().value());
  REQUIRE(lost.is_accepted());
  vanish(lost.socket);
  REQUIRE(server.recorder.wait([&](const auto& all) {
    return std::any_of(all.begin(), all.end(),
                       [](const auto& entry) { return !entry.second.closed.empty(); });
  }));
  CHECK(server.recorder.connection(id).closed.empty());
}

TEST_CASE("a socket that fails is not held against the other side") {
  const auto identity = Identity::generate();
  REQUIRE(identity.ok());
  const auto context = TlsContext::make(*identity, 1000);
  REQUIRE(context.ok());
  // A datagram socket that leads nowhere: writing to it fails, and not because it was closed.
  const Socket nowhere(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  REQUIRE(nowhere);
  auto session = context->session(TlsContext::Side::kClient, nowhere.fd(), std::nullopt);
  REQUIRE(session.ok());
  REQUIRE(session->handshake().outcome == TlsOutcome::kFailed);
  const Error error = session->error("connection with somebody");
  CHECK(error.code == ErrorCode::kIo);
  CHECK(error.message().find("somebody") != std::string::npos);
  CHECK_FALSE(error.detail.empty());
}

}  // namespace
}  // namespace firn::proto::transport::test
