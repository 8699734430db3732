// firn-bare-echo: what a tracker on OpenSSL and libuv can reach at most. One loop accepts, shakes
// hands (TLS 1.3, Ed25519 on both sides, nothing of the certificates looked at) and answers each
// frame with one that was made before, of the size of an announce's reply. No limits, no timers, no
// queues: it is for the same load as the tracker, in the same run (scripts/bench-tracker).
//
// The first line on standard output is `listening on ID@HOST:PORT`.
#include <arpa/inet.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <uv.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>

#include "proto/messages.h"
#include "proto/transport/identity_impl.h"
#include "proto/transport/sockets.h"

namespace {

using namespace firn;
using namespace firn::proto::transport;

constexpr std::size_t kPeers = 50;
constexpr std::size_t kPrefix = 4;  // of a frame: its length

struct Bare {
  SSL_CTX* context;
  std::string reply;
};

struct Client {
  uv_poll_t poll{};
  Bare* bare = nullptr;
  SSL* session = nullptr;
  int fd = -1;
  std::string in, out;
};

void close_client(Client* client) {
  uv_poll_stop(&client->poll);
  uv_close(reinterpret_cast<uv_handle_t*>(&client->poll), [](uv_handle_t* handle) {
    auto* gone = static_cast<Client*>(handle->data);
    SSL_free(gone->session);
    ::close(gone->fd);
    delete gone;
  });
}

// Answers all whole frames.
void answer(Client& client) {
  std::size_t at = 0;
  while (client.in.size() - at >= kPrefix) {
    std::uint32_t length = 0;
    std::memcpy(&length, client.in.data() + at, kPrefix);
    length = ntohl(length);
    if (client.in.size() - at < kPrefix + length) break;
    at += kPrefix + length;
    client.out += client.bare->reply;
  }
  client.in.erase(0, at);
}

// False: the connection is over.
bool go_on(Client& client) {
  if (SSL_is_init_finished(client.session) == 0) {
    const int done = SSL_do_handshake(client.session);
    if (done != 1) return SSL_get_error(client.session, done) == SSL_ERROR_WANT_READ;
  }
  std::array<char, 16 << 10> part{};
  for (std::size_t got = 0;;) {
    const int read = SSL_read_ex(client.session, part.data(), part.size(), &got);
    if (read != 1) {
      if (SSL_get_error(client.session, read) != SSL_ERROR_WANT_READ) return false;
      break;
    }
    client.in.append(part.data(), got);
    answer(client);
  }
  while (!client.out.empty()) {
    std::size_t put = 0;
    const int wrote = SSL_write_ex(client.session, client.out.data(), client.out.size(), &put);
    if (wrote != 1) return SSL_get_error(client.session, wrote) == SSL_ERROR_WANT_WRITE;
    client.out.erase(0, put);
  }
  return true;
}

void on_client(uv_poll_t* poll, int, int) {
  auto* client = static_cast<Client*>(poll->data);
  if (!go_on(*client)) return close_client(client);
  uv_poll_start(poll, UV_READABLE | (client->out.empty() ? 0 : UV_WRITABLE), on_client);
}

void on_listener(uv_poll_t* poll, int, int) {
  auto* bare = static_cast<Bare*>(poll->data);
  int listener = -1;
  uv_fileno(reinterpret_cast<uv_handle_t*>(poll), &listener);
  for (int fd; (fd = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
    tune(fd, 0);
    auto* client = new Client;
    client->bare = bare;
    client->fd = fd;
    client->session = SSL_new(bare->context);
    SSL_set_fd(client->session, fd);
    SSL_set_accept_state(client->session);
    uv_poll_init(poll->loop, &client->poll, fd);
    client->poll.data = client;
    uv_poll_start(&client->poll, UV_READABLE, on_client);
  }
}

SSL_CTX* make_context(const Identity& identity) {
  SSL_CTX* context = SSL_CTX_new(TLS_server_method());
  SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
  SSL_CTX_set_ciphersuites(context, "TLS_AES_128_GCM_SHA256");
  SSL_CTX_set1_sigalgs_list(context, "ed25519");
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_use_certificate(context, identity.impl().certificate.get());
  SSL_CTX_use_PrivateKey(context, identity.impl().key.get());
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_cert_verify_callback(
      context, [](X509_STORE_CTX*, void*) { return 1; }, nullptr);
  SSL_CTX_set_alpn_select_cb(
      context,
      [](SSL*, const unsigned char** out, unsigned char* bytes, const unsigned char* offered,
         unsigned int, void*) {
        *out = offered + 1;
        *bytes = offered[0];
        return SSL_TLSEXT_ERR_OK;
      },
      nullptr);
  return context;
}

std::string sample_reply() {
  proto::AnnounceReply reply{.interval_seconds = 60,
                             .complete_count = 100,
                             .incomplete_count = 100,
                             .has_manifest = true,
                             .peers = {}};
  reply.peers.resize(kPeers, {PeerId{}, "127.100.100.1", 4000});
  return serialize(proto::TrackerReply(reply)).head;
}

}  // namespace

int main() {
  std::signal(SIGPIPE, SIG_IGN);
  const auto identity = Identity::generate();
  auto listening = open_listening(Address{{}, "127.0.0.1", 0});
  if (!identity.ok() || !listening.ok()) return 1;
  Bare bare{make_context(*identity), sample_reply()};
  uv_loop_t loop;
  uv_loop_init(&loop);
  uv_poll_t listener;
  uv_poll_init(&loop, &listener, listening->socket.fd());
  listener.data = &bare;
  uv_poll_start(&listener, UV_READABLE, on_listener);
  std::printf("listening on %s@127.0.0.1:%u\n", identity->id().text().c_str(),
              unsigned{listening->address.port()});
  std::fflush(stdout);
  return uv_run(&loop, UV_RUN_DEFAULT);
}
